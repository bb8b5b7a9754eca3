//! The settings that a user gives: everything is optional. What they are is in the table of `rehearsal-runs`.

use std::{fmt::Display, path::PathBuf, str::FromStr};

use rehearsal_data::{Chain, Dataset};
use rehearsal_runs::{Setting, settings_table};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{ConfigError, Insertion, Recalibrate};
use crate::{
    device::DeviceName,
    learner::CustomNames,
    losses::Denominator,
    memory::PolicyKind,
    methods::{AceHead, MethodKind, Reduction},
    network::{BackboneKind, Kernels},
    optimizer::Schedule,
    probe::ScoreNorm,
    retrieval::{Ratio, RetrievalKind},
    shapley::ShapleyScore,
    stream::{ClassOrder, StreamKind},
    views::Views,
};

/// The type of a setting whose default is filled in: a value if the table has one.
macro_rules! completed_type {
    (is $type:ty) => { $type };
    ($other:ident $type:ty) => { Option<$type> };
}

/// A setting, or its default where the table has one.
macro_rules! completed {
    ($given:expr, is($value:expr)) => {
        $given.unwrap_or_else(|| $value)
    };
    ($given:expr, $other:ident($($words:literal)?)) => {
        $given
    };
}

/// What help says about a default.
macro_rules! default_text {
    ($type:ty, is($value:expr)) => {{
        let value: $type = $value;
        plain(toml::Value::try_from(value).ok()?)
    }};
    ($type:ty, by($words:literal)) => {
        $words.to_owned()
    };
    ($type:ty, none()) => {
        return None
    };
}

/// Reads a setting that is a word, a number or a path.
macro_rules! read_text {
    (flag $given:expr, $name:expr, $text:expr) => {
        $given = Some(read($name, $text)?)
    };
    (switch $given:expr, $name:expr, $text:expr) => {
        $given = Some(read($name, $text)?)
    };
    (file $given:expr, $name:expr, $text:expr) => {
        $given = Some(read_toml($name, $text)?)
    };
    (run $given:expr, $name:expr, $text:expr) => {
        return Err(no_setting(None, $name))
    };
}

macro_rules! settings {
    ($(
        $name:ident: $type:ty = $default:ident($($value:tt)*), $role:ident,
        $place:ident($($words:literal),*), $($help:literal)+;
    )*) => {
        /// Settings as a user gives them, in a file or on the command line: everything is optional.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
        pub struct PartialConfig {
            $(#[doc = concat!($($help),+)] pub $name: Option<$type>,)*
        }

        /// The same with the defaults that depend on nothing.
        pub(super) struct Completed {
            $(pub(super) $name: completed_type!($default $type),)*
        }

        impl PartialConfig {
            /// What is given here, else what is given there.
            fn or(self, other: Self) -> Self {
                Self { $($name: self.$name.or(other.$name),)* }
            }

            pub(super) fn complete(self) -> Completed {
                Completed { $($name: completed!(self.$name, $default($($value)*)),)* }
            }

            /// Sets a setting from the text that stands for it on a command line: a word, a number, a path, or a
            /// list as TOML writes it.
            ///
            /// # Errors
            /// There is no such setting, or it cannot have that value.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), ConfigError> {
                match name.replace('-', "_").as_str() {
                    $(stringify!($name) => read_text!($place self.$name, name, text),)*
                    _ => return Err(no_setting(None, name)),
                }
                Ok(())
            }

            /// What help says about the default of a setting; nothing if it has none.
            pub fn default_text(name: &str) -> Option<String> {
                Some(match name.replace('-', "_").as_str() {
                    $(stringify!($name) => default_text!($type, $default($($value)*)),)*
                    _ => return None,
                })
            }
        }
    };
}
settings_table!(settings);

impl PartialConfig {
    /// Reads an experiment file.
    ///
    /// # Errors
    /// It is not TOML, has a key that is not known, or a value that cannot be.
    pub fn parse(toml: &str) -> Result<Self, ConfigError> {
        toml::from_str(toml).map_err(|error: toml::de::Error| {
            let line = 1 + error.span().map_or(0, |span| toml[..span.start].matches('\n').count());
            refusal(Some(line), toml::from_str(toml).ok().as_ref(), &error)
        })
    }

    /// Settings that are already read.
    ///
    /// # Errors
    /// A key is not known, or a value cannot be.
    pub fn from_settings(settings: &toml::Table) -> Result<Self, ConfigError> {
        settings.clone().try_into().map_err(|error: toml::de::Error| refusal(None, Some(settings), &error))
    }

    /// What both say; if they differ, `other`. What the file says only because of a value that
    /// `other` replaces goes with it: the ratio with the retrieval, a method's defaults with the
    /// method, the fingerprint with the data set.
    pub fn overridden_by(&self, other: &Self) -> Self {
        let mut base = self.clone();
        if other.retrieval.is_some() || other.retrieved.is_some() {
            base.ratio = None;
        }
        if let Some(method) = other.method {
            base.forget_what_goes_with_the_method(method);
        }
        if other.dataset.is_some() {
            (base.data_sha256, base.incomplete_data, base.task_classes) = (None, None, None);
        }
        if other.tasks.is_some() {
            base.task_classes = None;
        }
        if other.task_classes.is_some() {
            base.tasks = None;
        }
        if other.stream.is_some() {
            base.blur = None;
        }
        other.clone().or(base)
    }

    /// Drops the defaults of the method named here, where another takes its place.
    fn forget_what_goes_with_the_method(&mut self, next: MethodKind) {
        let own = self.clone().complete().method;
        if !next.replays() || own != next && self.retrieval == Some(own.default_retrieval()) {
            (self.retrieval, self.ratio) = (None, None);
        }
        if !next.replays() || own != next && self.memory_policy == Some(own.default_policy()) {
            self.memory_policy = None;
        }
        if own != next && self.views == Some(own.default_views()) {
            self.views = None;
        }
        self.memory = self.memory.filter(|&memory| memory > 0);
    }

    /// The same with the names of custom parts.
    pub(crate) fn with_names(&self, names: &CustomNames) -> Self {
        let CustomNames { custom_method, custom_retrieval, custom_memory_policy, custom_backbone } = names.clone();
        Self { custom_method, custom_retrieval, custom_memory_policy, custom_backbone, ..self.clone() }
    }
}

/// What is wrong with settings that cannot be read; nothing is known of them if they are not even TOML.
fn refusal(line: Option<usize>, settings: Option<&toml::Table>, error: &toml::de::Error) -> ConfigError {
    let setting = settings.and_then(unreadable);
    match setting {
        Some(name) if Setting::find(&name).is_none() => no_setting(line, &name),
        setting => ConfigError::Unreadable { line, setting, why: error.message().trim().to_owned() },
    }
}

/// A setting whose value cannot be read, or that does not exist.
fn unreadable(settings: &toml::Table) -> Option<String> {
    let alone = |(name, value): &(&String, &toml::Value)| {
        let alone: toml::Table = [((*name).clone(), (*value).clone())].into_iter().collect();
        alone.try_into::<PartialConfig>().is_err()
    };
    settings.iter().find(alone).map(|(name, _)| name.clone())
}

fn read<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, ConfigError> {
    text.parse().map_err(|error: T::Err| {
        let why = error.to_string();
        // Errors of numbers do not quote the text.
        let why = if why.contains(text) { why } else { format!("`{text}` cannot be read: {why}") };
        ConfigError::Unreadable { line: None, setting: Some(name.to_owned()), why }
    })
}

/// A word, a number or a list, as TOML writes it; quotes around a word may be left out.
fn read_toml<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, ConfigError> {
    let written = toml::from_str::<toml::Table>(&format!("value = {text}")).ok().filter(|table| table.len() == 1);
    let value = written.and_then(|mut table| table.remove("value"));
    let value = value.unwrap_or_else(|| toml::Value::String(text.to_owned()));
    value.try_into().map_err(|error: toml::de::Error| ConfigError::Unreadable {
        line: None,
        setting: Some(name.to_owned()),
        why: error.message().trim().to_owned(),
    })
}

fn no_setting(line: Option<usize>, name: &str) -> ConfigError {
    ConfigError::NoSetting { line, name: name.to_owned(), nearest: Setting::nearest(name).map(|setting| setting.name) }
}

/// As text, without quotes.
fn plain(value: toml::Value) -> String {
    match value {
        toml::Value::String(text) => text,
        other => other.to_string(),
    }
}
