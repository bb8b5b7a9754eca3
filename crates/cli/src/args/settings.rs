//! Settings on the command line: flags and their help, made from the table of settings.

use std::{fmt::Write as _, marker::PhantomData};

use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches, error::ErrorKind};
use rehearsal::{
    config::{ConfigError, PartialConfig},
    device::DeviceKind,
};
use rehearsal_files::text::wrap_at;
use rehearsal_runs::{Place, SETTINGS, Setting};

use crate::flags::as_flags;

/// A verb whose flags come from the table of settings.
pub trait Verb {
    /// The heading of the help under which the verb has the setting as a flag.
    fn heading(setting: &Setting) -> Option<&'static str>;

    /// Whether every setting can be given by `--set`, also those without a flag.
    const SETS: bool = false;

    /// The help of a setting, without its default.
    fn help(setting: &Setting) -> String {
        setting.help.to_owned()
    }

    /// What the help says about a default.
    fn default_text(name: &str) -> Option<String> {
        PartialConfig::default_text(name)
    }
}

/// `rehearsal run`, which has a flag for every setting that can be one.
pub enum RunVerb {}

impl Verb for RunVerb {
    const SETS: bool = true;

    fn heading(setting: &Setting) -> Option<&'static str> {
        match setting.place {
            Place::Flag { heading, .. } | Place::Switch { heading } => Some(heading),
            Place::File { .. } | Place::Run => None,
        }
    }
}

/// The name of the flag that gives any setting.
const SET: &str = "set";

/// The settings that were given to a verb, as they were typed.
pub struct Settings<V>(Vec<(String, String)>, PhantomData<V>);

impl<V> Settings<V> {
    /// The settings, parsed.
    ///
    /// # Errors
    /// A value cannot be read.
    pub fn settings(&self) -> Result<PartialConfig, ConfigError> {
        let mut settings = PartialConfig::default();
        self.0.iter().try_for_each(|(name, text)| settings.set(name, text))?;
        Ok(settings)
    }
}

impl<V: Verb> clap::Args for Settings<V> {
    fn augment_args(command: Command) -> Command {
        let set = Arg::new(SET)
            .long(SET)
            .value_name("NAME=VALUE")
            .help("Any setting of an experiment file, also those without a flag; may be repeated")
            .action(ArgAction::Append)
            .value_parser(name_and_value)
            .help_heading("Learning");
        command.args(SETTINGS.iter().filter_map(flag::<V>)).args(V::SETS.then_some(set))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<V: Verb> FromArgMatches for Settings<V> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = SETTINGS.iter().filter(|setting| V::heading(setting).is_some());
        let typed = |setting: &'static Setting| match setting.place {
            Place::Switch { .. } => {
                matches.get_flag(setting.name).then(|| (setting.name.to_owned(), "true".to_owned()))
            }
            _ => Some((setting.name.to_owned(), matches.get_one::<String>(setting.name)?.clone())),
        };
        let mut typed: Vec<(String, String)> = given.filter_map(typed).collect();
        if V::SETS {
            for (name, value) in matches.get_many::<(String, String)>(SET).unwrap_or_default() {
                if typed.iter().any(|(other, _)| other == name) {
                    return Err(Error::raw(ErrorKind::ArgumentConflict, format!("`{name}` is given twice")));
                }
                typed.push((name.clone(), value.clone()));
            }
        }
        Ok(Self(typed, PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as temperature=0.1")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn flag<V: Verb>(setting: &'static Setting) -> Option<Arg> {
    let arg = Arg::new(setting.name).long(setting.name).help(help::<V>(setting)).help_heading(V::heading(setting)?);
    match setting.place {
        // A value may begin with a dash: the settings themselves refuse negative numbers.
        Place::Flag { value, .. } => Some(arg.value_name(value).allow_negative_numbers(true)),
        Place::Switch { .. } => Some(arg.action(ArgAction::SetTrue)),
        Place::File { .. } | Place::Run => None,
    }
}

/// The help of a setting, with its default; other settings as flags.
fn help<V: Verb>(setting: &Setting) -> String {
    let mut text = as_flags(&V::help(setting)).replace('`', "");
    // The devices depend on the features that were built.
    if setting.name == "device" {
        let _ = write!(text, ": {}", DeviceKind::built_names());
    }
    match V::default_text(setting.name) {
        Some(default) if !matches!(setting.place, Place::Switch { .. }) => format!("{text} [default: {default}]"),
        _ => text,
    }
}

/// The columns of a narrow terminal.
const COLUMNS: usize = 80;

/// The settings that have no flag, with their help.
pub fn only_in_files() -> String {
    let only = SETTINGS.iter().filter_map(|setting| match setting.place {
        Place::File { whose } => Some((setting, whose)),
        _ => None,
    });
    let width = only.clone().map(|(setting, _)| setting.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (setting, whose) in only {
        let whose = if whose.is_empty() { String::new() } else { format!("{whose}: ") };
        for (i, line) in
            wrap_at(&format!("{whose}{}", help::<RunVerb>(setting)), COLUMNS - 4 - width).iter().enumerate()
        {
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
        let command = Settings::<RunVerb>::augment_args(Command::new("run").no_binary_name(true));
        Settings::<RunVerb>::from_arg_matches(&command.get_matches_from(flags)).unwrap().settings()
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
    fn every_setting_of_a_file_can_be_set() {
        let classes = "task-classes = [['cat', 'dog'], ['car']]";
        let file =
            format!("temperature = 0.1\nhead = 'cosine'\ntask-free = true\nlr = 0.2\nkernels = 'direct'\n{classes}");
        let set: Vec<&str> = file.lines().flat_map(|line| ["--set", line]).collect();
        assert_eq!(typed(&set), PartialConfig::parse(&file));
        for setting in SETTINGS.iter().filter(|setting| setting.place != Place::Run) {
            let Some(used) = resolved(&PartialConfig::default(), setting.name).filter(|used| used != "null") else {
                continue;
            };
            assert!(typed(&["--set", &format!("{}={used}", setting.name)]).is_ok(), "{} = {used}", setting.name);
        }
        let refused = |set: &str| typed(&["--set", set]).unwrap_err();
        let misspelt = ConfigError::NoSetting { line: None, name: "temprature".into(), nearest: Some("temperature") };
        assert_eq!(refused("temprature=0.1"), misspelt);
        assert!(matches!(refused("temperature=warm"), ConfigError::Unreadable { .. }));
        assert!(matches!(refused("gss-groups=1\nseed = 2"), ConfigError::Unreadable { .. }), "one setting at a time");
        assert!(matches!(refused("version=9"), ConfigError::NoSetting { .. }), "only runs write it");
    }

    #[test]
    fn a_setting_is_given_once() {
        let command = || Settings::<RunVerb>::augment_args(Command::new("run").no_binary_name(true));
        let read = |flags: [&str; 4]| Settings::<RunVerb>::from_arg_matches(&command().get_matches_from(flags));
        assert!(read(["--lr", "0.1", "--set", "lr=0.2"]).is_err());
        assert!(read(["--set", "head=cosine", "--set", "head=linear"]).is_err());
        assert!(command().try_get_matches_from(["--set", "temperature"]).is_err());
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
                ("threads" | "tasks", Some(_)) | ("data" | "size" | "hidden" | "ridge", None) => {}
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
        assert!(help::<RunVerb>(Setting::find("lr").unwrap()).ends_with("[default: 0.1]"));
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
