//! A setting: its name, its role in a comparison of runs, where users give it, and its help.

use crate::settings_table;

/// A setting of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name in files; on the command line with two dashes.
    pub name: &'static str,
    /// Its role in a comparison of runs.
    pub role: Role,
    /// Where users give it.
    pub place: Place,
    /// One sentence about it, without a full stop and without its default.
    pub help: &'static str,
}

/// The role of a setting in a comparison of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Results do not depend on it: it may change when a run is resumed.
    Neutral,
    /// Additional files. Results do not depend on it, but it cannot change when a run is resumed.
    Output,
    /// Averaged over.
    Seed,
    /// The data to learn: a column of a table.
    Data,
    /// Must agree for a comparison to be fair: each combination has its own tables.
    Protocol,
    /// The variant that is compared: a row of a table.
    Arm,
}

/// Where users give a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In files, and as a flag with a value.
    Flag {
        /// The heading of the help.
        heading: &'static str,
        /// The placeholder for the value in the help.
        value: &'static str,
    },
    /// In files, and as a flag without a value.
    Switch {
        /// The heading of the help.
        heading: &'static str,
    },
    /// In files only.
    File {
        /// Which method, policy or retrieval it is for; empty if it is for all.
        whose: &'static str,
    },
    /// Nowhere: runs write it into their files.
    Run,
}

impl Setting {
    /// The setting with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// The setting that the user probably meant by a wrong name.
    ///
    /// ```
    /// use rehearsal_runs::Setting;
    ///
    /// assert_eq!(Setting::nearest("epoch").map(|setting| setting.name), Some("epochs"));
    /// assert_eq!(Setting::nearest("zzzzzzzzzz"), None);
    /// ```
    pub fn nearest(name: &str) -> Option<&'static Self> {
        let distance = |setting: &&Self| strsim::osa_distance(&name.to_lowercase().replace('_', "-"), setting.name);
        let known = SETTINGS.iter().filter(|setting| setting.place != Place::Run);
        known.min_by_key(distance).filter(|nearest| distance(nearest) <= nearest.name.len().min(name.len()) / 2)
    }

    /// Whether the command line has a flag for it.
    pub fn has_flag(&self) -> bool {
        matches!(self.place, Place::Flag { .. } | Place::Switch { .. })
    }
}

impl Role {
    /// The role of the setting with this name. An unknown setting, of another version, distinguishes runs: it is an arm.
    pub fn of_setting(name: &str) -> Self {
        Setting::find(name).map_or(Self::Arm, |setting| setting.role)
    }
}

/// A field's name as files write it: `-` for `_`.
const fn kebab<const LENGTH: usize>(field: &str) -> [u8; LENGTH] {
    let (mut name, mut i) = ([0; LENGTH], 0);
    while i < LENGTH {
        let byte = field.as_bytes()[i];
        name[i] = if byte == b'_' { b'-' } else { byte };
        i += 1;
    }
    name
}

macro_rules! place {
    (flag($heading:literal, $value:literal)) => {
        Place::Flag { heading: $heading, value: $value }
    };
    (switch($heading:literal)) => {
        Place::Switch { heading: $heading }
    };
    (file($whose:literal)) => {
        Place::File { whose: $whose }
    };
    (run()) => {
        Place::Run
    };
}

macro_rules! list {
    ($(
        $field:ident: $type:ty = $default:ident($($value:tt)*), $role:ident,
        $place:ident($($words:literal),*), $($help:literal)+;
    )*) => {
        /// Every setting, in the order of the help.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: {
                const NAME: &[u8] = &kebab::<{ stringify!($field).len() }>(stringify!($field));
                match str::from_utf8(NAME) {
                    Ok(name) => name,
                    Err(_) => panic!("a field's name is UTF-8"),
                }
            },
            role: Role::$role,
            place: place!($place($($words),*)),
            help: concat!($($help),+),
        }),*];
    };
}
settings_table!(list);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_setting_is_found_by_the_name_that_files_write() {
        let setting = Setting::find("train-per-class").unwrap();
        assert_eq!((setting.role, setting.place), (Role::Data, Place::Flag { heading: "Data", value: "N" }));
        assert_eq!(Setting::find("train_per_class"), None);
        assert_eq!((Role::of_setting("threads"), Role::of_setting("brand-new")), (Role::Neutral, Role::Arm));
    }

    #[test]
    fn every_setting_is_listed_once_and_has_help() {
        let names: BTreeSet<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        assert_eq!(names.len(), SETTINGS.len());
        for Setting { name, help, .. } in SETTINGS {
            assert!(!help.is_empty() && !help.ends_with('.') && !help.contains("--"), "{name}: {help}");
            assert!(!help.contains("[default"), "{name}: the default is in its own column");
        }
    }
}
