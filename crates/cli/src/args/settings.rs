//! The settings of a run on the command line: flags and their help, made from the table of
//! settings.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches};
use rehearsal::{
    config::{ConfigError, PartialConfig},
    device::DeviceKind,
};
use rehearsal_files::text::wrap_at;
use rehearsal_runs::{Place, SETTINGS, Setting};

use crate::flags::as_flags;

/// The settings that were given as flags, as they were typed.
#[derive(Clone, Default)]
pub struct Settings(Vec<(&'static str, String)>);

impl Settings {
    /// What they say.
    ///
    /// # Errors
    /// One of them cannot be what was typed.
    pub fn settings(&self) -> Result<PartialConfig, ConfigError> {
        let mut settings = PartialConfig::default();
        self.0.iter().try_for_each(|(name, text)| settings.set(name, text))?;
        Ok(settings)
    }
}

impl clap::Args for Settings {
    fn augment_args(command: Command) -> Command {
        command.args(SETTINGS.iter().filter_map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let typed = |setting: &'static Setting| match setting.place {
            Place::Flag { .. } => Some((setting.name, matches.get_one::<String>(setting.name)?.clone())),
            Place::Switch { .. } => matches.get_flag(setting.name).then(|| (setting.name, "true".to_owned())),
            Place::File { .. } | Place::Run => None,
        };
        Ok(Self(SETTINGS.iter().filter_map(typed).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn flag(setting: &'static Setting) -> Option<Arg> {
    let arg = Arg::new(setting.name).long(setting.name).help(help(setting));
    match setting.place {
        // A value may begin with a dash: that a number is negative is said by the settings.
        Place::Flag { heading, value } => {
            Some(arg.help_heading(heading).value_name(value).allow_negative_numbers(true))
        }
        Place::Switch { heading } => Some(arg.help_heading(heading).action(ArgAction::SetTrue)),
        Place::File { .. } | Place::Run => None,
    }
}

/// What a setting is, with its default; other settings as flags.
fn help(setting: &Setting) -> String {
    let mut text = as_flags(setting.help).replace('`', "");
    // Which devices there are to name depends on what was built.
    if setting.name == "device" {
        let _ = write!(text, ": {}", DeviceKind::built_names());
    }
    match PartialConfig::default_text(setting.name) {
        Some(default) if !matches!(setting.place, Place::Switch { .. }) => format!("{text} [default: {default}]"),
        _ => text,
    }
}

/// Columns of the narrowest terminals that are usual.
const COLUMNS: usize = 80;

/// Every setting that has no flag, a line or some each.
pub fn only_in_files() -> String {
    let only = SETTINGS.iter().filter_map(|setting| match setting.place {
        Place::File { whose } => Some((setting, whose)),
        _ => None,
    });
    let width = only.clone().map(|(setting, _)| setting.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (setting, whose) in only {
        let whose = if whose.is_empty() { String::new() } else { format!("{whose}: ") };
        for (i, line) in wrap_at(&format!("{whose}{}", help(setting)), COLUMNS - 4 - width).iter().enumerate() {
            let _ = writeln!(text, "  {:width$}  {line}", if i == 0 { setting.name } else { "" });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    fn typed(flags: &[&str]) -> Result<PartialConfig, ConfigError> {
        let command = Settings::augment_args(Command::new("run").no_binary_name(true));
        Settings::from_arg_matches(&command.get_matches_from(flags)).unwrap().settings()
    }

    fn resolved(settings: &PartialConfig, name: &str) -> Option<String> {
        rehearsal_runs::Settings::new(&settings.resolve().unwrap()).unwrap().text(name)
    }

    #[test]
    fn flags_say_what_a_file_says() {
        let flags =
            ["--lr", "0.2", "--skip-bad", "--method", "er", "--ratio", "4:6", "--data", "a b", "--schedule", "step"];
        let file = "lr = 0.2\nskip-bad = true\nmethod = 'er'\nratio = '4:6'\ndata = 'a b'\nschedule = 'step'";
        assert_eq!(typed(&flags), PartialConfig::parse(file));
        assert_eq!(typed(&[]), Ok(PartialConfig::default()));
        let error = |flags: &[&str]| typed(flags).unwrap_err().to_string();
        assert_eq!(error(&["--memory", "many"]), "`memory`: `many` cannot be read: invalid digit found in string");
    }

    #[test]
    fn help_says_the_default_that_is_used() {
        let nothing = PartialConfig::default();
        let blurry = PartialConfig::parse("stream = 'blurry'").unwrap();
        for setting in SETTINGS {
            let Some(default) = PartialConfig::default_text(setting.name) else { continue };
            let settings = if setting.name == "blur" { &blurry } else { &nothing };
            let used = resolved(settings, setting.name);
            match (setting.name, used) {
                // Words for what depends on the data, the machine or the method.
                ("threads" | "tasks", Some(_)) | ("data" | "size", None) => {}
                (name, None) => assert!(["all", "false"].contains(&default.as_str()) || name == "stream", "{name}"),
                ("retrieval" | "memory-policy" | "views", Some(used)) => {
                    assert!(default.starts_with(&used), "{default}");
                }
                (name, Some(used)) => assert_eq!(default.replace(' ', ""), used, "{name}"),
            }
        }
        let aser = PartialConfig::parse("method = 'aser'").unwrap();
        for name in ["retrieval", "memory-policy"] {
            assert!(PartialConfig::default_text(name).unwrap().ends_with(&resolved(&aser, name).unwrap()));
        }
        assert!(PartialConfig::default_text("views").unwrap().ends_with(&resolved(&aser, "views").unwrap()));
        assert!(help(Setting::find("lr").unwrap()).ends_with("[default: 0.1]"));
    }

    #[test]
    fn help_names_every_choice() {
        for setting in SETTINGS {
            let one = PartialConfig::parse(&format!("{} = 'no-such-name'", setting.name));
            let Some(error) = one.err().map(|error| error.to_string()) else { continue };
            let Some((_, choices)) = error.split_once("choose one of ") else { continue };
            let words: Vec<&str> = setting.help.split([' ', ',']).collect();
            for choice in choices.split(", ") {
                assert!(words.contains(&choice), "the help of {} does not name {choice}", setting.name);
            }
        }
    }

    #[test]
    fn settings_without_a_flag_are_listed_in_lines_that_fit() {
        let list = only_in_files();
        assert!(list.contains("  temperature         PCR: ") && list.contains("[default: 0.09]"), "{list}");
        assert!(!list.contains("custom-method") && !list.contains("data-sha256") && !list.contains("momentum "));
        assert!(list.lines().all(|line| line.chars().count() <= COLUMNS), "{list}");
    }
}
