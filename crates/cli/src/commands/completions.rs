//! `rehearsal completions` and `rehearsal man`: made from the definitions of the commands themselves.

use std::{fs, process::ExitCode};

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::{
    args::{Args, Completions, Manual},
    output,
    printer::print,
};

/// Prints the completions of a shell.
pub fn completions(args: &Completions) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "rehearsal", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page, or writes a page for every command.
pub fn man(args: &Manual) -> Result<ExitCode> {
    let mut command = Args::command();
    command.build();
    let Some(directory) = &args.out else {
        print(&String::from_utf8_lossy(&page(command)?.1))?;
        return Ok(ExitCode::SUCCESS);
    };
    fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    for command in with_commands_below(command) {
        let (name, page) = page(command)?;
        let path = directory.join(name);
        output::write(&path, &page).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    print(&format!("{}\n", rehearsal_data::printable(&directory.to_string_lossy())))?;
    Ok(ExitCode::SUCCESS)
}

/// The name of its file, such as `rehearsal-learn.1`, and the page.
fn page(command: Command) -> Result<(String, Vec<u8>)> {
    let (man, mut page) = (Man::new(command), Vec::new());
    man.render(&mut page)?;
    Ok((man.get_filename(), page))
}

/// A command, and all below it but `help`.
fn with_commands_below(command: Command) -> Vec<Command> {
    let below: Vec<Command> =
        command.get_subcommands().filter(|command| command.get_name() != "help").cloned().collect();
    [command].into_iter().chain(below.into_iter().flat_map(with_commands_below)).collect()
}
