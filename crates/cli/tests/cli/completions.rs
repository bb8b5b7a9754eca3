//! Completions and manual pages.

use std::{fs, path::Path, process::Command};

use crate::program::{output, text};

fn script(shell: &str) -> String {
    let printed = output(Path::new("."), &["completions", shell]);
    assert!(printed.status.success(), "{}", text(&printed.stderr));
    text(&printed.stdout).to_owned()
}

#[test]
fn every_shell_gets_every_verb_and_flag() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = script(shell);
        for word in ["evaluate", "max-forgetting", "memory-policy"] {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
    }
    assert_eq!(output(Path::new("."), &["completions", "dos"]).status.code(), Some(2));
}

#[test]
#[cfg(unix)]
fn bash_completes_what_was_begun() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("completions.bash");
    fs::write(&path, script("bash")).unwrap();
    let complete = |words: &str, last: &str| {
        let typed = "COMP_WORDS=(rehearsal $1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _rehearsal rehearsal \"$2\"; echo ${COMPREPLY[@]}";
        let typed = format!("source {}; {typed}", path.display());
        let Ok(shell) = Command::new("bash").args(["-c", &typed, "bash", words, last]).output() else { return None };
        assert!(shell.status.success(), "{}", text(&shell.stderr));
        Some(text(&shell.stdout).trim().to_owned())
    };
    let Some(verbs) = complete("eva", "eva") else { return eprintln!("there is no bash") };
    assert_eq!(verbs, "evaluate");
    assert_eq!(complete("learn --max-f", "--max-f").as_deref(), Some("--max-forgetting"));
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let page = output(Path::new("."), &["man"]);
    assert!(page.status.success() && text(&page.stdout).contains(".TH rehearsal 1"), "{}", text(&page.stdout));
    let place = tempfile::tempdir().unwrap();
    let written = output(place.path(), &["man", "--out", "man1"]);
    assert_eq!(text(&written.stdout), "man1\n", "{}", text(&written.stderr));
    for (name, word) in [("rehearsal", "learn"), ("rehearsal-learn", "max"), ("rehearsal-memory-remove", "PATTERN")] {
        let page = fs::read_to_string(place.path().join(format!("man1/{name}.1"))).unwrap();
        assert!(page.contains(&format!(".TH {name} 1")) && page.contains(word), "{name}: {page}");
    }
    assert!(!place.path().join("man1/rehearsal-help.1").exists());
    fs::write(place.path().join("file"), "").unwrap();
    assert_eq!(output(place.path(), &["man", "--out", "file"]).status.code(), Some(2));
}
