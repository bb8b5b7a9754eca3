//! The settings of a run by their role in a report. Settings of newer versions are kept and compared
//! like the others.

use std::collections::{BTreeMap, BTreeSet};

use rehearsal_runs::{Role, Settings};

use crate::readings;

/// The settings of the data.
pub fn data(settings: &Settings) -> Part {
    part(settings, Role::Data)
}

/// The settings that must agree in a fair comparison.
pub fn protocol(settings: &Settings) -> Part {
    part(settings, Role::Protocol)
}

/// The settings of the arm: the method, its retrieval, and every setting without another role.
pub fn arm(settings: &Settings) -> Part {
    part(settings, Role::Arm)
}

fn part(settings: &Settings, role: Role) -> Part {
    let wanted = settings.names().filter(|name| Role::of_setting(name) == role);
    let value = |name: &str| match settings.text(name).unwrap_or_default() {
        // The first reading of a run that was tested both ways is the one as trained.
        both if name == readings::SETTING && both == readings::BOTH => "off".to_owned(),
        value => value,
    };
    Part(wanted.map(|name| (name.to_owned(), value(name))).collect())
}

/// Some settings as text, comparable.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part(pub BTreeMap<String, String>);

impl Part {
    /// The value of a setting; empty if it is not set.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// The value of a setting as a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).parse().ok()
    }

    /// Whether a setting has a value, which may be another form of the same number.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.get(name) == value || self.number(name).is_some_and(|number| value.parse() == Ok(number))
    }

    /// All settings but one.
    pub fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|(key, _)| *key != name).map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// The settings in which it differs from others: "views raw, denominator set". Of many only those
    /// that distinguish it: "views raw, denominator set, head linear and 7 more".
    pub fn distinction<'a>(&'a self, others: impl IntoIterator<Item = &'a Self>) -> String {
        let parts: BTreeSet<&Self> = others.into_iter().chain([self]).collect();
        let names: BTreeSet<&str> = parts.iter().flat_map(|other| self.differing(other)).collect();
        let (count, told) = (names.len(), telling(names, &parts));
        let value = |name: &&str| match self.get(name) {
            "" => format!("{name} not set"),
            value => format!("{name} {value}"),
        };
        let said = told.iter().map(value).collect::<Vec<_>>().join(", ");
        if told.len() < count { format!("{said} and {} more", count - told.len()) } else { said }
    }

    /// The names of the settings in which it differs from another.
    pub fn differing<'a>(&'a self, other: &'a Self) -> Vec<&'a str> {
        let names: BTreeSet<&str> = self.0.keys().chain(other.0.keys()).map(String::as_str).collect();
        names.into_iter().filter(|name| self.get(name) != other.get(name)).collect()
    }
}

/// This many settings are named even if fewer would distinguish arms.
const SAID: usize = 3;

/// Of many settings those that distinguish some parts best; of few all. Settings that only some parts
/// have, because an older version did not know them, are avoided.
fn telling<'a>(mut names: BTreeSet<&'a str>, parts: &BTreeSet<&Part>) -> Vec<&'a str> {
    if names.len() <= SAID {
        return names.into_iter().collect();
    }
    let kinds = |told: &[&str]| {
        let values = |part: &&Part| told.iter().map(|name| part.get(name).to_owned()).collect::<Vec<_>>();
        parts.iter().map(values).collect::<BTreeSet<_>>().len()
    };
    let said_by_all = |name: &str| parts.iter().all(|part| !part.get(name).is_empty());
    let mut told: Vec<&str> = Vec::new();
    loop {
        let rank = |name: &&str| (kinds(&[&told[..], &[*name]].concat()), said_by_all(name));
        // The first of equals.
        let Some(best) = names.iter().copied().rev().max_by_key(rank) else { break };
        let told_apart = kinds(&told) == parts.len();
        if told_apart && (told.len() >= SAID || !said_by_all(best)) {
            break;
        }
        names.remove(best);
        told.push(best);
    }
    told.sort_unstable();
    told
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn settings(value: Value) -> Settings {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn every_setting_has_one_role_and_unknown_ones_belong_to_the_arm() {
        let run = settings(json!({"seed": 3, "dataset": "cifar100", "epochs": 1, "method": "pcr", "brand-new": 0.5}));
        assert_eq!(data(&run).0.len() + protocol(&run).0.len() + arm(&run).0.len(), 4, "all but the seed");
        assert_eq!(arm(&run).get("brand-new"), "0.5");
        assert_eq!(protocol(&run).number("epochs"), Some(1.0));
        assert_eq!((arm(&run).get("retrieval"), run.number("seed")), ("", Some(3.0)));
    }

    #[test]
    fn settings_of_the_optimizer_belong_to_the_protocol() {
        let names = ["lr", "momentum", "weight-decay", "schedule", "batch"];
        let run = settings(names.iter().map(|name| ((*name).to_owned(), json!(1))).collect());
        assert_eq!((protocol(&run).0.len(), arm(&run).0.len()), (names.len(), 0));
    }

    #[test]
    fn parts_name_their_differences() {
        let one = arm(&settings(json!({"method": "er", "views": "raw"})));
        let other = arm(&settings(json!({"method": "pcr", "views": "raw", "ratio": "5:5"})));
        assert_eq!(one.differing(&other), ["method", "ratio"]);
        assert_eq!(one.without("method").differing(&other.without("method")), ["ratio"]);
    }

    #[test]
    fn of_many_differences_the_distinguishing_ones_are_named() {
        let part = |views: &str, head: &str, many: u32| {
            let many = (0..8).map(|i| (format!("a{i}"), many.to_string()));
            Part(many.chain([("views".into(), views.into()), ("head".into(), head.into())]).collect())
        };
        let parts =
            [part("raw", "linear", 1), part("both", "linear", 2), part("raw", "cosine", 1), part("both", "cosine", 2)];
        let said: Vec<String> = parts.iter().map(|one| one.distinction(&parts)).collect();
        assert_eq!(said[0], "a0 1, a1 1, head linear and 7 more");
        assert_eq!(said.iter().collect::<BTreeSet<_>>().len(), 4);
        assert_eq!(parts[0].distinction(&parts[..1]), "");
        let older = Part::default();
        let newer = Part([("head".to_owned(), "linear".to_owned())].into());
        assert_eq!(older.distinction([&newer]), "head not set");
        assert_eq!(older.distinction([&parts[0]]), "a0 not set and 9 more");
    }
}
