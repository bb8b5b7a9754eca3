//! What the user probably meant by a flag that does not exist: a setting that has none.

use clap::{
    Error,
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};
use rehearsal_runs::{Place, Setting};

/// The same error with another tip, if the flag is a setting that only files and `--set` have.
pub fn with_setting(mut error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownArgument || !is_of_run(&error) {
        return error;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return error };
    let setting = flag.strip_prefix("--").and_then(Setting::nearest);
    let Some(setting) = setting.filter(|setting| matches!(setting.place, Place::File { .. })) else { return error };
    let tip = StyledStr::from(format!("`{}` is a setting without a flag: --set {0}=VALUE", setting.name));
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    error
}

/// Whether the verb is `run`, the only one that has `--set`.
fn is_of_run(error: &Error) -> bool {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return false };
    usage.to_string().contains("rehearsal run ")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Args;

    fn told(arguments: &[&str]) -> String {
        let error = Args::try_parse_from([&["rehearsal"], arguments].concat()).err().unwrap();
        with_setting(error).to_string()
    }

    #[test]
    fn a_setting_without_a_flag_is_found_by_its_name_also_misspelt() {
        for flag in ["--temperature", "--temprature"] {
            let told = told(&["run", flag, "0.1"]);
            assert!(told.contains("--set temperature=VALUE") && !told.contains("-- --"), "{told}");
        }
        assert!(told(&["run", "--epoch", "2"]).contains("'--epochs'"), "flags are found by clap");
        assert!(!told(&["learn", "--temperature", "0.1"]).contains("--set"));
        assert!(!told(&["run", "--no-such-thing-at-all"]).contains("--set"));
    }
}
