//! Settings as flags. Libraries quote settings as an experiment file writes them; the command line quotes flags.

use anyhow::{Error, anyhow};
use rehearsal_runs::{Place, Setting};

use crate::{exit_code::is_user_error, hints::hint, user_error::UserError};

/// The same error with quoted settings as flags, and with the same exit code and hint.
pub fn with_flags(error: &Error) -> Error {
    let hint = hint(error).map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    let text = as_flags(&format!("{error:#}")) + &hint;
    if is_user_error(error) { UserError(text).into() } else { anyhow!(text) }
}

/// The same text with quoted settings as flags: `` `memory` `` becomes `` `--memory` ``, `` `stream
/// = "blurry"` `` becomes `` `--stream blurry` ``. Settings that have no flag stay as they are.
pub fn as_flags(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts: Vec<String> = parts
        .map(|(i, part)| if i % 2 == 1 { as_flag(part) } else { None }.unwrap_or_else(|| part.to_owned()))
        .collect();
    parts.join("`")
}

fn as_flag(code: &str) -> Option<String> {
    let (name, value) = code.split_once(" = ").map_or((code, None), |(name, value)| (name, Some(value)));
    let setting = Setting::find(name).filter(|setting| setting.has_flag())?;
    Some(match (setting.place, value) {
        (Place::Switch { .. }, _) | (_, None) => format!("--{name}"),
        (_, Some(value)) => format!("--{name} {}", value.trim_matches('"')),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_settings_become_flags() {
        assert_eq!(as_flags("`memory` must be at least 1"), "`--memory` must be at least 1");
        assert_eq!(as_flags("`blur` is for `stream = \"blurry\"`"), "`--blur` is for `--stream blurry`");
        assert_eq!(as_flags("set `skip-bad = true`"), "set `--skip-bad`");
        let others = "memory: `task-classes` names the class `memories`, see `rehearsal run`";
        assert_eq!(as_flags(others), others);
    }
}
