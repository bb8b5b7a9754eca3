//! The labelling configuration of a project: which data of a task are its photo, and what may be chosen for it.

use roxmltree::{Document, Node};

use crate::{ApiError, error::Answer};

/// The longest configuration that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// A choice for a photo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    /// The name of the control with the choices.
    pub from_name: String,
    /// The name of the image that they are for.
    pub to_name: String,
    /// The key of the image in the data of a task.
    pub key: String,
    /// What may be chosen; empty if the tasks say it.
    choices: Vec<String>,
}

impl Config {
    /// The first `<Choices>` for an `<Image>`.
    pub fn parse(text: &str) -> Answer<Self> {
        let bad = |why: String| ApiError::bad_request(format!("the labelling configuration {why}"));
        if text.len() > LONGEST {
            return Err(ApiError::too_large("the labelling configuration is larger than 1 MB"));
        }
        let document = Document::parse(text).map_err(|error| bad(format!("is no XML: {error}")))?;
        let mut all = document.descendants().filter(|node| node.has_tag_name("Choices"));
        let found = all.find_map(|choices| Some((choices.attribute("name")?, image(&document, choices)?, choices)));
        let (from_name, (to_name, key), choices) =
            found.ok_or_else(|| bad("has no `<Choices>` for an `<Image>`: this model classifies photos".into()))?;
        let offered = choices.descendants().filter(|node| node.has_tag_name("Choice"));
        let offered = offered.filter_map(|choice| choice.attribute("alias").or_else(|| choice.attribute("value")));
        Ok(Self {
            from_name: from_name.into(),
            to_name: to_name.into(),
            key: key.into(),
            choices: offered.map(str::to_owned).collect(),
        })
    }

    /// The choice that means a class: the same name, but for capitals.
    pub fn choice(&self, class: &str) -> Option<String> {
        if self.choices.is_empty() {
            return Some(class.to_owned());
        }
        let is_alike = |choice: &&String| choice.to_lowercase() == class.to_lowercase();
        self.choices.iter().find(|choice| *choice == class).or_else(|| self.choices.iter().find(is_alike)).cloned()
    }
}

/// The image that choices are for: its name, and its key in the data of a task.
fn image<'a>(document: &'a Document, choices: Node<'a, '_>) -> Option<(&'a str, &'a str)> {
    let to_name = choices.attribute("toName")?;
    let mut images = document.descendants().filter(|node| node.has_tag_name("Image"));
    let image = images.find(|image| image.attribute("name") == Some(to_name))?;
    Some((to_name, image.attribute("value")?.strip_prefix('$')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"<View><Text name="t" value="$note"/><Image name="photo" value="$image"/>
        <Choices name="other" toName="t"><Choice value="x"/></Choices>
        <Choices name="kind" toName="photo"><Choice value="Boots"/><Choice value="Clogs" alias="clog"/></Choices></View>"#;

    #[test]
    fn the_choices_of_an_image_are_found() {
        let config = Config::parse(CONFIG).unwrap();
        assert_eq!((&*config.from_name, &*config.to_name, &*config.key), ("kind", "photo", "image"));
        let choice = |class: &str| config.choice(class);
        assert_eq!((choice("boots").as_deref(), choice("clog").as_deref()), (Some("Boots"), Some("clog")));
        assert_eq!(choice("Clogs"), None, "results have the alias");
        let open =
            Config::parse(r#"<View><Image name="a" value="$b"/><Choices name="c" toName="a" value="$d"/></View>"#);
        assert_eq!(open.unwrap().choice("anything").as_deref(), Some("anything"));
    }

    #[test]
    fn what_has_no_choice_for_an_image_is_refused() {
        let other = CONFIG.replace("toName=\"photo\"", "toName=\"t\"");
        let bomb = r#"<!DOCTYPE a [<!ENTITY b "cc">]><View>&b;</View>"#;
        let deep = "<View>".repeat(100_000);
        for bad in ["", "<View/>", "not XML", &other, bomb, &deep, &" ".repeat(LONGEST + 1)] {
            assert!(Config::parse(bad).is_err());
        }
    }
}
