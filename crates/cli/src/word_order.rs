//! `rehearsal memory sheet shop.model` means `rehearsal memory shop.model sheet`.

use std::{ffi::OsString, path::Path};

use clap::CommandFactory;

use crate::args::Args;

/// The same arguments with the model before the verb, where a verb of `memory` or `class` came first. A
/// model that exists and has the name of a verb is a model.
pub fn model_before_verb(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let [_, command, first, second, ..] = &arguments[..] else { return arguments };
    let Some(command) = command.to_str().filter(|name| ["memory", "class"].contains(name)) else { return arguments };
    let Some(verbs) = Args::command().find_subcommand(command).cloned() else { return arguments };
    let is_verb = |word: &OsString| word.to_str().is_some_and(|word| verbs.find_subcommand(word).is_some());
    let is_flag = second.to_str().is_some_and(|word| word.starts_with('-'));
    if is_verb(first) && !is_verb(second) && !is_flag && !Path::new(first).exists() {
        arguments.swap(2, 3);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        model_before_verb(words).into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_verb_before_the_model_is_put_behind_it() {
        assert_eq!(ordered("r memory sheet shop.model -o x.png"), "r memory shop.model sheet -o x.png");
        assert_eq!(ordered("r class merge shop.model a b"), "r class shop.model merge a b");
        for line in [
            "r memory shop.model sheet",
            "r memory list sheet",
            "r memory sheet --help",
            "r memory sheet",
            "r memory --help",
            "r show memory",
            "r data list x",
        ] {
            assert_eq!(ordered(line), line);
        }
    }
}
