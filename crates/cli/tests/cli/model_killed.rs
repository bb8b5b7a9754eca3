//! A session killed at random moments: the model is its last whole version, and the same command goes
//! on to the same bits. `REHEARSAL_KILLS=100` kills more often than the ten times of every test.

use std::{
    fs,
    process::Stdio,
    time::{Duration, Instant},
};

use rehearsal::rng::{Rng, RngStream};

use crate::{
    program::{output, rehearsal, text},
    shop::Shop,
};

const SESSIONS: [&str; 2] = ["january", "february"];
/// After so many kills a session is left to end.
const KILLS_OF_A_VISIT: usize = 5;
/// Of every session, so that its bits can be compared: files say how many threads made them. A dozen
/// steps, each of which is written down.
const MORE: [&str; 6] = ["--threads", "1", "--checkpoint-every", "0", "--epochs", "2"];

#[test]
fn killed_at_any_moment_it_goes_on_to_the_same_bits() {
    let wanted: usize = std::env::var("REHEARSAL_KILLS").map_or(10, |kills| kills.parse().unwrap());
    let shop = Shop::new();
    shop.photos("january", &["boots", "clogs"], 40);
    shop.photos("february", &["mules"], 30);
    // As long as a session takes, on whatever else this machine does now.
    let takes = SESSIONS.map(|session| {
        let started = Instant::now();
        assert!(shop.learn_as("whole.model", session, &MORE).status.success());
        started.elapsed()
    });
    let mut rng = Rng::new(7, RngStream::Retrieval, &[]);
    let mut kills = 0;
    for round in 0.. {
        let model = format!("killed-{round}.model");
        for (done, session) in SESSIONS.iter().enumerate() {
            for attempt in 0.. {
                let is_killed = kills < wanted && attempt < KILLS_OF_A_VISIT;
                let moment = takes[done].mul_f64(1.1 * rng.unit());
                if is_killed && kill_after(&shop, &model, session, moment) {
                    kills += 1;
                    is_whole_after_a_kill(&shop, &model, done as u64);
                } else if !is_killed {
                    let ended = shop.learn_as(&model, session, &MORE);
                    assert!(ended.status.success(), "{session} after {kills} kills: {}", text(&ended.stderr));
                    break;
                }
            }
        }
        compare(&shop, &model, kills);
        fs::remove_dir_all(shop.path().join(&model)).unwrap();
        if kills >= wanted {
            break;
        }
    }
    eprintln!("{kills} kills, each session of {takes:?}");
}

/// Begins a session and kills it after so long; whether it was still running. One that has ended by
/// itself must have ended well.
fn kill_after(shop: &Shop, model: &str, session: &str, moment: Duration) -> bool {
    let (arguments, log) = (Shop::arguments(model, session, &MORE), shop.path().join("said.txt"));
    let mut learning = rehearsal(shop.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    learning.stderr(fs::File::create(&log).unwrap()).stdout(Stdio::null());
    let mut child = learning.spawn().unwrap();
    std::thread::sleep(moment);
    if let Some(status) = child.try_wait().unwrap() {
        assert!(status.success(), "{session}: {status}: {}", fs::read_to_string(&log).unwrap());
        return false;
    }
    child.kill().unwrap();
    // It may have ended between the look and the kill.
    !child.wait().unwrap().success()
}

/// The version before the session, or, if the kill came late, the one after it.
fn is_whole_after_a_kill(shop: &Shop, model: &str, done: u64) {
    let shown = output(shop.path(), &["show", model, "--json"]);
    if shown.status.success() {
        let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
        let current = shown["current"].as_u64().unwrap();
        assert!(current == done || current == done + 1, "version {current} at session {}", done + 1);
        return;
    }
    let said = text(&shown.stderr);
    let none = ["has no complete version yet", "is not a model of Rehearsal", "there is no model"];
    assert!(done == 0 && none.iter().any(|sentence| said.contains(sentence)), "after a kill: {said}");
}

/// The versions have the bytes of those that nobody disturbed, and nothing else is left.
fn compare(shop: &Shop, model: &str, kills: usize) {
    for number in ["0001", "0002"] {
        let version =
            |model: &str| fs::read(shop.path().join(format!("{model}/versions/{number}.safetensors"))).unwrap();
        assert!(version(model) == version("whole.model"), "version {number} after {kills} kills");
    }
    let names = |directory: &str| {
        let entries = fs::read_dir(shop.path().join(directory)).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(model), ["history.jsonl", "lock", "model.toml", "versions"]);
    assert_eq!(names(&format!("{model}/versions")), ["0001.safetensors", "0002.safetensors"]);
}
