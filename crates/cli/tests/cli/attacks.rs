//! What attacks on the real binary found: names that are no text, signals that are ignored, files of the user beside
//! ours, readers that go away.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader},
    os::unix::ffi::OsStrExt,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{
    program::{output, rehearsal, text},
    shop::{Shop, json, refused},
};

/// A shop with a model of 24 images.
fn learned() -> Shop {
    let shop = Shop::new();
    ["sandal", "bag"].iter().for_each(|class| shop.clothes("january", class, 0, 12));
    run(&shop, &["learn", "m.model", "january"]);
    shop
}

#[track_caller]
fn run(shop: &Shop, arguments: &[&str]) -> Output {
    let output = output(shop.path(), arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    output
}

/// Waits until a condition holds.
fn wait_for(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} did not happen");
}

#[test]
fn paths_that_are_no_text_are_printed_exactly_by_every_verb() {
    let shop = learned();
    let odd = OsStr::from_bytes(b"a\xff");
    let bytes = |name: &str| {
        use std::os::unix::ffi::OsStringExt;
        let script = "import base64, sys; sys.stdout.buffer.write(base64.b64decode(sys.argv[1]))";
        let decoded = Command::new("python3").args(["-c", script, name]).output().unwrap();
        std::ffi::OsString::from_vec(decoded.stdout)
    };
    // With `ARG` in the place of a path that is not UTF-8.
    let call = |arguments: &[&str], path: &OsStr| {
        let mut command = rehearsal(shop.path(), &[]);
        arguments.iter().for_each(|argument| {
            command.arg(if *argument == "ARG" { path } else { OsStr::new(argument) });
        });
        let output = command.arg("--json").output().unwrap();
        assert_ne!(output.status.code(), Some(101), "{arguments:?}: {}", text(&output.stderr));
        output
    };
    let photos = shop.path().join("odd/sandal");
    fs::create_dir_all(&photos).unwrap();
    let photo = photos.join(OsStr::from_bytes(b"b\xfe.png"));
    fs::copy(shop.path().join("january/bag/003.png"), &photo).unwrap();
    fs::copy(shop.path().join("january/bag/004.png"), photos.join("plain.png")).unwrap();

    let answers = call(&["predict", "m.model", "odd"], odd);
    let answers: Vec<Value> = text(&answers.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((answers.len(), answers[0]["path"].as_str()), (2, Some("odd/sandal/b\u{fffd}.png")));
    assert_eq!(bytes(answers[0]["path_bytes"].as_str().unwrap()), OsStr::from_bytes(b"odd/sandal/b\xfe.png"));
    assert!(answers[1].get("path_bytes").is_none());
    let evaluation = json(&call(&["evaluate", "m.model", "odd"], odd));
    assert!(evaluation["wrong"].as_array().unwrap().iter().any(|photo| photo.get("path_bytes").is_some()));

    fs::rename(shop.path().join("m.model"), shop.path().join(odd)).unwrap();
    assert!(json(&call(&["show", "ARG"], odd)).get("model_bytes").is_some());
    let out = OsStr::from_bytes(b"out\xff");
    for (key, arguments) in [
        ("onnx_bytes", &["export", "A", "--onnx", "ARG"][..]),
        ("sheet_bytes", &["memory", "A", "sheet", "-o", "ARG"]),
        ("directory_bytes", &["memory", "A", "export", "ARG"]),
    ] {
        let mut command = rehearsal(shop.path(), &[]);
        for argument in arguments {
            command.arg(match *argument {
                "A" => odd,
                "ARG" => out,
                argument => OsStr::new(argument),
            });
        }
        let written = json(&command.arg("--json").output().unwrap());
        assert_eq!(bytes(written[key].as_str().unwrap()), out, "{arguments:?}");
        let path = shop.path().join(out);
        fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).unwrap();
    }
    let mut list = rehearsal(shop.path(), &["data", "list", "--json"]);
    assert!(json(&list.env("REHEARSAL_DATA", odd).output().unwrap()).get("home_bytes").is_some());
    call(&["data", "verify", "folder", "--data", "odd"], odd);
    call(&["compare", "ARG", "ARG"], odd);
}

/// As `nohup` starts programs, and a shell what it runs in the background.
#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    for (ignored, code) in [(true, 0), (false, 130)] {
        let words = Shop::arguments(
            "m.model",
            "photos",
            &["--backbone", "scratch", "--epochs", "400", "--checkpoint-every", "0"],
        );
        let trap = if ignored { "trap '' HUP INT TERM; " } else { "" };
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{trap}exec \"$@\""), "sh", env!("CARGO_BIN_EXE_rehearsal")]).args(&words);
        command.current_dir(shop.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let checkpoint = shop.path().join("m.model/learning.safetensors");
        wait_for("a checkpoint", || checkpoint.exists());
        for signal in ["HUP", "INT", "TERM"].iter().take(if ignored { 3 } else { 1 }) {
            assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
        }
        assert_eq!(child.wait().unwrap().code(), Some(code), "ignored: {ignored}");
        fs::remove_dir_all(shop.path().join("m.model")).unwrap();
    }
}

#[test]
fn a_removal_that_matches_nothing_is_refused() {
    let shop = learned();
    refused(&shop, &["memory", "m.model", "remove", "no-such*"], "no photo matches `no-such*`");
    refused(&shop, &["memory", "m.model", "remove", "no-such*", "--dry-run"], "no photo matches");
    shop.clothes("other", "dress", 0, 1);
    refused(&shop, &["memory", "m.model", "remove", "other/dress/000.png"], "does not know");
}

#[test]
fn files_of_the_user_beside_ours_are_left_alone_and_two_exports_leave_one_whole() {
    let shop = learned();
    fs::create_dir(shop.path().join("r.partial")).unwrap();
    fs::write(shop.path().join("r.partial/thesis.txt"), "years").unwrap();
    fs::write(shop.path().join("x.onnx.partial"), "mine").unwrap();
    run(&shop, &["memory", "m.model", "export", "r"]);
    run(&shop, &["export", "m.model", "--onnx", "x.onnx"]);
    assert_eq!(fs::read_to_string(shop.path().join("r.partial/thesis.txt")).unwrap(), "years");
    assert_eq!(fs::read_to_string(shop.path().join("x.onnx.partial")).unwrap(), "mine");
    let files = |place: &Path| ["sandal", "bag"].map(|class| fs::read_dir(place.join(class)).unwrap().count());
    for round in 0..5 {
        let out = format!("out{round}");
        let start = || rehearsal(shop.path(), &["memory", "m.model", "export", &out]).stderr(Stdio::null()).spawn();
        let both = [start().unwrap(), start().unwrap()].map(|mut child| child.wait().unwrap().code());
        assert!(both.contains(&Some(0)) && both.iter().all(|code| matches!(code, Some(0 | 2))), "{both:?}");
        assert_eq!(files(&shop.path().join(out)), files(&shop.path().join("r")));
    }
    let left: Vec<_> = fs::read_dir(shop.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains(".rehearsal-")), "{left:?}");
}

#[test]
fn a_rejected_session_is_kept_once_and_pushes_out_no_accepted_version() {
    let shop = Shop::new();
    // The new classes look as the old ones do: half of the old answers change.
    for class in ["sandal", "bag", "dress"] {
        shop.clothes("march", class, 100, 80);
        let march = shop.path().join("march");
        fs::rename(march.join(class), march.join(format!("new {class}"))).unwrap();
        shop.clothes("january", class, 0, 80);
    }
    run(&shop, &["learn", "shop.model", "january", "--keep", "2"]);
    run(&shop, &["class", "shop.model", "rename", "sandal", "shoe"]);
    let again = || output(shop.path(), &["learn", "shop.model", "march", "--keep", "2"]).status.code();
    assert_eq!([(); 4].map(|()| again()), [Some(3); 4]);
    let numbers = |shown: &Value| {
        let versions = shown["versions"].as_array().unwrap();
        versions.iter().map(|version| version["version"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&shop.show()), [1, 2, 3]);
}

#[test]
fn what_was_learned_from_scratch_stays_known_as_learned_and_with_an_exact_head_was_never() {
    let shop = Shop::new();
    ["sandal", "bag", "dress"].iter().for_each(|class| shop.clothes("january", class, 0, 12));
    let learned = |model: &str| {
        let evaluation = json(&output(shop.path(), &["evaluate", model, "january", "--json"]));
        evaluation["learned_before"].as_u64().unwrap()
    };
    run(&shop, &["learn", "exact.model", "january"]);
    let words = Shop::arguments("scratch.model", "january", &["--backbone", "scratch"]);
    run(&shop, &words.iter().map(String::as_str).collect::<Vec<_>>());
    let before = learned("scratch.model");
    assert!(before < 36 && learned("exact.model") == 36, "holdout photos are never learned from scratch");
    let held_out = |shop: &Shop| -> BTreeSet<String> {
        let list = run(shop, &["memory", "scratch.model", "list", "--class", "sandal"]);
        let holdout = text(&list.stdout).lines().filter(|line| line.contains("holdout"));
        holdout.filter_map(|line| line.rsplit_once('/')).map(|(_, name)| name.to_owned()).collect()
    };
    let measured = held_out(&shop);
    for model in ["exact.model", "scratch.model"] {
        run(&shop, &["memory", model, "remove", "january/sandal/00*"]);
    }
    assert_eq!((learned("exact.model"), learned("scratch.model")), (26, before));
    // Learned again, none of those that were learned before measures.
    shop.clothes("again", "sandal", 0, 10);
    let words = Shop::arguments("scratch.model", "again", &[]);
    run(&shop, &words.iter().map(String::as_str).collect::<Vec<_>>());
    let measure = held_out(&shop);
    assert!(measure.is_subset(&measured), "{measure:?}, before {measured:?}");
    assert_eq!(learned("scratch.model"), before);
}

#[test]
fn the_versions_say_what_they_score_after_a_removal() {
    let shop = Shop::new();
    ["sandal", "bag", "dress"].iter().for_each(|class| shop.clothes("january", class, 0, 30));
    run(&shop, &["learn", "shop.model", "january"]);
    run(&shop, &["class", "shop.model", "rename", "bag", "bags"]);
    let total = |shown: &Value| shown["versions"][0]["holdout"]["total"].as_u64().unwrap();
    let before = total(&shop.show());
    run(&shop, &["memory", "shop.model", "remove", "--class", "dress"]);
    let shown = shop.show();
    let classes: u64 =
        shown["classes"].as_array().unwrap().iter().map(|class| class["holdout"]["total"].as_u64().unwrap()).sum();
    assert_eq!(total(&shown), classes, "version 1 as it is now");
    assert!(classes < before);
}

#[test]
fn versions_do_not_depend_on_threads_and_those_that_cannot_be_read_are_marked() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    for threads in ["1", "2"] {
        let model = format!("m{threads}.model");
        let words = Shop::arguments(&model, "photos", &["--backbone", "scratch", "--threads", threads]);
        run(&shop, &words.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let version = |model: &str, number: u32| shop.path().join(format!("{model}/versions/{number:04}.safetensors"));
    assert!(fs::read(version("m1.model", 1)).unwrap() == fs::read(version("m2.model", 1)).unwrap());
    for to in ["a", "b", "c"] {
        run(
            &shop,
            &[
                "class",
                "m1.model",
                "rename",
                if to == "a" {
                    "boots"
                } else if to == "b" {
                    "a"
                } else {
                    "b"
                },
                to,
            ],
        );
    }
    fs::remove_file(version("m1.model", 3)).unwrap();
    fs::write(version("m1.model", 2), "").unwrap();
    let shown = text(&run(&shop, &["show", "m1.model"]).stdout).to_owned();
    assert!(shown.contains("missing") && shown.contains("damaged"), "{shown}");
    fs::write(version("m1.model", 4), "").unwrap();
    fs::rename(shop.path().join("m1.model"), shop.path().join("m odel")).unwrap();
    refused(&shop, &["show", "m odel"], "hint: `rehearsal use 'm odel' 1`");
}

#[test]
fn a_reader_that_goes_away_ends_the_prediction_and_a_path_is_answered_as_often_as_it_is_given() {
    let shop = learned();
    let twice = run(&shop, &["predict", "m.model", "january/bag/000.png", "january/bag/000.png"]);
    assert_eq!(text(&twice.stdout).lines().count(), 2);
    // One photo after many others cannot be read: only who reads to the end is told.
    shop.clothes("many", "dress", 0, 220);
    fs::write(shop.path().join("many/dress/zzz.png"), "no image").unwrap();
    assert_eq!(output(shop.path(), &["predict", "m.model", "many"]).status.code(), Some(2));
    let predict = &mut rehearsal(shop.path(), &["predict", "m.model", "many"]);
    // Nothing is known of them yet, so that each takes its time.
    predict.env("XDG_DATA_HOME", shop.path().join("home")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = predict.spawn().unwrap();
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(64, child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    let ended = child.wait_with_output().unwrap();
    assert!(line.contains("many/dress/000.png"), "{line}");
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
}
