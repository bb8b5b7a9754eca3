//! The settings of a run, as a table of names and values. Unknown settings, of other versions, are kept.

mod setting;
mod table;

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::Value;
pub use setting::{Place, Role, SETTINGS, Setting};

/// Every setting of a run by its name in `config.toml`, in the order in which it is written.
///
/// ```
/// let settings: rehearsal_runs::Settings = serde_json::from_str(r#"{"method":"pcr","lr":0.1}"#)?;
/// assert_eq!(settings.text("method").as_deref(), Some("pcr"));
/// assert_eq!(settings.number("lr"), Some(0.1));
/// assert_eq!(serde_json::to_string(&settings)?, r#"{"method":"pcr","lr":0.1}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(Vec<(String, Value)>);

impl Settings {
    /// The settings of a configuration, in the order and the form in which it is serialised.
    ///
    /// # Errors
    /// The configuration is not a table of settings.
    pub fn new(config: &impl Serialize) -> Result<Self, serde_json::Error> {
        // Through text, because a `Value` would sort the names.
        serde_json::from_str(&serde_json::to_string(config)?)
    }

    /// A setting.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// A setting as text, without quotes.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }

    /// A setting that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    /// The first setting that results depend on and that differs in another run.
    ///
    /// ```
    /// use rehearsal_runs::Settings;
    ///
    /// let ours: Settings = serde_json::from_str(r#"{"threads":2,"lr":0.1}"#)?;
    /// let theirs: Settings = serde_json::from_str(r#"{"threads":8,"lr":0.2}"#)?;
    /// assert_eq!(ours.difference(&theirs), Some("lr"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn difference<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
        let mut names = self.names().chain(other.names());
        names.find(|name| Role::of_setting(name) != Role::Neutral && self.get(name) != other.get(name))
    }

    /// All settings except these.
    pub fn without(self, names: &[&str]) -> Self {
        Self(self.0.into_iter().filter(|(name, _)| !names.contains(&name.as_str())).collect())
    }

    /// The names of all settings.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

impl FromIterator<(String, Value)> for Settings {
    /// If a name occurs twice, the first one counts.
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(settings: I) -> Self {
        Self(settings.into_iter().collect())
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

/// Reads settings without changing their order.
struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Settings;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a table of settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Settings, A::Error> {
        let mut settings = Settings::default();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if settings.get(&name).is_some() {
                return Err(A::Error::custom(format!("the setting `{name}` occurs twice")));
            }
            settings.0.push((name, value));
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_numbers_stay_as_they_were_written() {
        let text =
            r#"{"width":20,"lr":0.1,"blur":null,"checkpoint-minutes":10.0,"task-classes":[["b","a"],[]],"a":1e300}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&settings).unwrap(), text.replace("1e300", "1e+300"));
        assert_eq!(settings.names().collect::<Vec<_>>()[..2], ["width", "lr"]);
        assert_eq!(settings.text("checkpoint-minutes").unwrap(), "10.0");
        assert_eq!((settings.number("width"), settings.number("height")), (Some(20.0), None));
    }

    #[test]
    fn toml_is_read_and_a_list_is_refused() {
        let settings: Settings = toml::from_str("seed = 3\nmethod = 'er'\n").unwrap();
        assert_eq!((settings.number("seed"), settings.text("method").as_deref()), (Some(3.0), Some("er")));
        assert!(Settings::new(&[1, 2]).unwrap_err().to_string().contains("a table of settings"));
    }

    #[test]
    fn a_setting_that_occurs_twice_is_refused() {
        let twice = serde_json::from_str::<Settings>(r#"{"seed":0,"seed":1}"#).unwrap_err().to_string();
        assert!(twice.contains("the setting `seed` occurs twice"), "{twice}");
    }
}
