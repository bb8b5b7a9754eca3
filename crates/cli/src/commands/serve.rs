//! `rehearsal serve`.

use std::{fs, path::Path, process::ExitCode, sync::Arc};

use anyhow::Result;
use rehearsal_serve::{LabelStudio, Options, Server};

use crate::{args::serve::Serve, interrupt::Asked, printer::message, user_error::UserError};

/// The variable that may hold the token.
const TOKEN: &str = "REHEARSAL_TOKEN";
/// The variable that may hold the token of a user of Label Studio, by the name that its own tools use.
const LABEL_STUDIO_KEY: &str = "LABEL_STUDIO_API_KEY";

/// Serves a model until it is told to stop.
pub fn serve(args: &Serve) -> Result<ExitCode> {
    let is_quiet = args.quiet;
    let log = move |line: &str| {
        if !is_quiet || line.starts_with("error") {
            message(line);
        }
    };
    let server = Server::start(Options {
        host: args.host,
        port: args.port,
        token: token(args)?,
        names: args.names.clone(),
        read_only: args.read_only,
        label_studio: label_studio(args)?,
        log: Arc::new(log),
        ..Options::new(&args.model)
    })?;
    let stop = server.stopper();
    Asked::listen(move |times| {
        if times > 1 {
            std::process::exit(crate::exit_code::STOPPED.into());
        }
        log("\nstopping when all requests and sessions have ended; press Ctrl-C again to stop at once");
        stop.stop();
    })?;
    log(&format!("{} on http://{}", args.model.display(), server.address()));
    server.run()?;
    Ok(ExitCode::SUCCESS)
}

fn label_studio(args: &Serve) -> Result<Option<LabelStudio>> {
    let key = || std::env::var(LABEL_STUDIO_KEY).ok();
    Ok(args.label_studio.as_deref().map(|address| LabelStudio::new(address, key())).transpose()?)
}

fn token(args: &Serve) -> Result<Option<String>> {
    let read = |path: &Path| -> Result<String> {
        let unreadable = |error| UserError(format!("{} cannot be read: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(unreadable)?;
        Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    };
    match (&args.token, &args.token_file) {
        (Some(token), _) => Ok(Some(token.clone())),
        (None, Some(path)) => read(path).map(Some),
        (None, None) => Ok(std::env::var(TOKEN).ok().filter(|token| !token.is_empty())),
    }
}
