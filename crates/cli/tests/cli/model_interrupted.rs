//! A session that is stopped, by a person, another session or a full disk: the model is unchanged, and the
//! same command continues.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Output, Stdio},
};

use crate::{
    program::{output, rehearsal, text},
    shop::{Shop, refused},
};

/// A session that does not end by itself, once it has said something with `word` in it.
fn endless_session(shop: &Shop, word: &str) -> Child {
    let arguments = Shop::arguments("shop.model", "photos", &["--epochs", "100000", "--checkpoint-every", "3600"]);
    let mut session = rehearsal(shop.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let mut child = session.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.as_mut().unwrap());
    let mut line = String::new();
    while !line.contains(word) {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended without saying {word:?}");
    }
    child
}

/// Ctrl-C: what it said last, and its exit code.
fn interrupted(mut session: Child) -> (Vec<String>, Option<i32>) {
    let asked = Command::new("kill").args(["-INT", &session.id().to_string()]).status().unwrap();
    assert!(asked.success());
    let said = BufReader::new(session.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
    (said, session.wait().unwrap().code())
}

#[test]
fn two_sessions_at_once_are_refused_and_a_stopped_one_goes_on() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 40);
    let first = endless_session(&shop, "read 80 images of 2 classes");
    let again = ["learn", "shop.model", "photos", "--settings", "small.toml"];
    refused(&shop, &again, "another process is changing shop.model: wait until it is done");
    refused(
        &shop,
        &["show", "shop.model"],
        "shop.model has no complete version yet: its first training session was interrupted",
    );
    let (said, code) = interrupted(first);
    assert_eq!(code, Some(130), "{said:?}");
    let last = "stopped: the model is unchanged, and the same command continues from here";
    assert_eq!(said.last().map(String::as_str), Some(last));
    refused(
        &shop,
        &["show", "shop.model"],
        "shop.model has no complete version yet: its first training session was interrupted",
    );
    let (said, code) = interrupted(endless_session(&shop, "continues after step "));
    assert_eq!(code, Some(130), "{said:?}");
    // Another session does not go on there, and what was begun is gone when it is done.
    assert!(shop.learn("photos", &[]).status.success());
    assert!(!shop.path().join("shop.model/learning.safetensors").exists());
}

#[test]
fn a_session_that_was_interrupted_is_shown_until_another_version_is_made() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 20);
    assert!(shop.learn("photos", &[]).status.success());
    shop.photos("photos", &["mules"], 20);
    let (said, code) = interrupted(endless_session(&shop, "read 60 images of 3 classes"));
    assert_eq!(code, Some(130), "{said:?}");
    assert_eq!((shop.show()["interrupted"].as_bool(), shop.show()["current"].as_u64()), (Some(true), Some(1)));
    let shown = output(shop.path(), &["show", "shop.model"]);
    assert!(text(&shown.stdout).contains("a session was interrupted: the same `rehearsal learn` continues"));
    assert!(output(shop.path(), &["class", "shop.model", "rename", "boots", "wellingtons"]).status.success());
    assert_eq!(shop.show()["interrupted"], false, "it began from version 1, and version 2 is used now");
}

/// A limit on the size of files stands for a full disk: both fail in the middle of writing.
#[cfg(target_os = "linux")]
fn learn_on_a_full_disk(shop: &Shop, folder: &str, kilobytes: usize, more: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_rehearsal");
    // `ulimit -f` counts half kilobytes in some shells, kilobytes in others.
    let limit = format!("trap '' XFSZ; ulimit -f {kilobytes}");
    let script = format!("{limit}; exec {program} learn shop.model {folder} --settings small.toml {more}");
    Command::new("sh").arg("-c").arg(script).current_dir(shop.path()).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_model_as_it_was() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    shop.photos("more", &["mules"], 12);
    let nothing = learn_on_a_full_disk(&shop, "photos", 20, "");
    assert_eq!(nothing.status.code(), Some(1), "{}", text(&nothing.stderr));
    assert!(!shop.path().join("shop.model").exists(), "a model that was never begun");
    assert!(shop.learn("photos", &[]).status.success());
    let before = shop.contents();
    // At the end, when the version is written, and in the middle, when it is written down how far the learning is.
    for (more, file) in [("", "versions/0002.safetensors"), ("--checkpoint-every 0", "learning.safetensors")] {
        let full = learn_on_a_full_disk(&shop, "more", 20, more);
        let errors = text(&full.stderr);
        assert_eq!(full.status.code(), Some(1), "{errors}");
        let last = errors.lines().last().unwrap_or_default();
        assert!(last.starts_with(&format!("error: shop.model/{file} cannot be written: ")), "{errors}");
        assert_eq!(shop.contents(), before);
    }
    assert!(shop.learn("more", &[]).status.success(), "with room it goes on");
}
