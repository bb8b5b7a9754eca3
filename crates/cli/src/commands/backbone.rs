//! `rehearsal backbone`.

use std::{path::Path, process::ExitCode};

use anyhow::Result;
use rehearsal_backbone::{BackboneName, Card, Fetch};
use rehearsal_data::{choice::Choice, fetch::Timeouts, home, printable};
use serde_json::{Value, json};

use crate::{
    args::backbone::{Backbone, BackboneVerb},
    printer::{Bar, bytes, columns, message, print},
};

/// Lists, fetches and removes pre-trained backbones.
pub fn backbone(args: &Backbone) -> Result<ExitCode> {
    match &args.verb {
        BackboneVerb::List { data, json } => list(&home::directory(data.as_deref())?, *json)?,
        BackboneVerb::Info { name, data, json } => {
            let home = home::directory(data.as_deref())?;
            let about = about(name.parse::<BackboneName>()?, &home);
            print(&if *json { format!("{about}\n") } else { lines(&about) })?;
        }
        BackboneVerb::Fetch { name, from, mirror, data, quiet } => {
            let (name, home) = (name.parse::<BackboneName>()?, home::directory(data.as_deref())?);
            if !quiet {
                message(&format!("{name}: licence {}", name.card().licence));
            }
            let progress: Box<dyn rehearsal_data::Progress> =
                if *quiet { Box::new(()) } else { Box::new(Bar::default()) };
            let fetch = Fetch {
                home: &home,
                from: from.as_deref(),
                mirror: mirror.as_deref(),
                timeouts: Timeouts::default(),
                progress: &*progress,
            };
            print(&format!("{}\n", printable(&fetch.backbone(name)?.to_string_lossy())))?;
        }
        BackboneVerb::Remove { name, data } => {
            let (name, home) = (name.parse::<BackboneName>()?, home::directory(data.as_deref())?);
            message(&if name.remove(&home)? {
                format!("{name} removed")
            } else {
                format!("{name} is not on this machine")
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(home: &Path, is_json: bool) -> Result<()> {
    let all: Vec<Value> = BackboneName::ALL.iter().map(|name| about(*name, home)).collect();
    if is_json {
        return Ok(print(&all.iter().map(|about| format!("{about}\n")).collect::<String>())?);
    }
    let mut rows = vec![["backbone", "features", "input", "size", "licence", ""].map(String::from).to_vec()];
    for name in BackboneName::ALL {
        let Card { features, size, file, licence, .. } = name.card();
        let (input, state) = (format!("{size}×{size}"), state(*name, home).to_owned());
        rows.push(vec![name.to_string(), features.to_string(), input, bytes(file.bytes), (*licence).to_owned(), state]);
    }
    let lines = columns(&rows, &[false, true]);
    Ok(print(&lines.into_iter().map(|line| line + "\n").collect::<String>())?)
}

fn state(name: BackboneName, home: &Path) -> &'static str {
    match (name.card().inside, name.is_here(home)) {
        (true, _) => "inside the program",
        (_, true) => "here",
        _ => "not fetched",
    }
}

fn about(name: BackboneName, home: &Path) -> Value {
    let Card { about, licence, file, size, features, gmac, inside, .. } = name.card();
    json!({
        "name": name.to_string(),
        "about": about,
        "state": state(name, home),
        "features": features,
        "input": size,
        "gmac": gmac,
        "licence": licence,
        (if *inside { "made_from" } else { "file" }): file.name,
        "source": file.url,
        "bytes": file.bytes,
        "sha256": file.sha256,
    })
}

fn lines(about: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let rows: Vec<Vec<String>> =
        about.as_object().into_iter().flatten().map(|(name, value)| vec![name.clone(), plain(value)]).collect();
    columns(&rows, &[]).into_iter().map(|line| line + "\n").collect()
}
