//! A model that people keep, by the real binary: learn, predict, show, go back, evaluate, remove.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod program;
mod shop;

use std::{
    fs,
    process::{Output, Stdio},
    time::{Duration, Instant},
};

use program::{output, rehearsal, text};
use serde_json::Value;
use shop::{Shop, lines_fit};

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Exit code 2, one line that says why, and nothing written.
#[track_caller]
fn refused(shop: &Shop, arguments: &[&str], why: &str) {
    let before = shop.contents();
    let output = output(shop.path(), arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    let last = errors.trim_end().lines().last().unwrap_or_default();
    assert!(last.starts_with("error: ") && last.contains(why), "{arguments:?}: {errors}");
    assert!(output.stdout.is_empty());
    assert_eq!(shop.contents(), before, "{arguments:?} changed something");
}

#[test]
fn the_story_of_a_model() {
    let shop = Shop::new();
    shop.photos("january", &["boots", "sandals", "sneakers"], 60);
    fs::write(shop.path().join("january/notes.txt"), "notes").unwrap();
    let first = shop.learn("january", &[]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let (said, told) = (text(&first.stdout), text(&first.stderr));
    assert!(told.contains("read 180 images of 3 classes, 24×24") && told.contains("notes.txt"), "{told}");
    let report = shop.show();
    let (exam, learned) = (&report["versions"][0]["exam"], report["images_learned"].as_u64().unwrap());
    let total = exam["total"].as_u64().unwrap();
    assert!((9..30).contains(&total) && learned + total == 180, "one in ten: {total}");
    let percent = 100.0 * exam["right"].as_f64().unwrap() / total as f64;
    assert!(percent > 60.0, "three colours can be told apart: {percent}");
    let bytes = fs::metadata(shop.path().join("shop.model/versions/0001.safetensors")).unwrap().len() as f64 / 1e3;
    let expected = format!(
        "version 1: 3 classes, exam {percent:.1} % of {total} images\n  memory {learned} of 5,000 images, {bytes:.1} kB\n"
    );
    assert_eq!(said, expected);

    shop.photos("february", &["clogs", "loafers"], 40);
    shop.photos_from("february", "sneakers", 100, 20);
    let second = shop.learn("february", &[]);
    let said = text(&second.stdout);
    let report = &shop.show()["versions"][1];
    assert_eq!((report["classes"].as_u64(), report["images"].as_u64().is_some()), (Some(5), true));
    let share = |score: &Value| 100.0 * score["right"].as_f64().unwrap() / score["total"].as_f64().unwrap();
    assert!(said.starts_with(&format!("version 2: 5 classes, exam {:.1} % of ", share(&report["exam"]))), "{said}");
    let (before, after) = (share(&report["old"]["before"]), share(&report["old"]["after"]));
    assert!(said.contains(&format!("\n  old classes {before:.1} → {after:.1} %")), "{said}");
    assert!(said.contains(&format!("\n  new classes {:.1} %\n", share(&report["new"]))), "{said}");
    assert!(lines_fit(said, 60), "{said}");

    let predicted = output(shop.path(), &["predict", "shop.model", "february/clogs", "january/boots/000.png"]);
    let lines: Vec<&str> = text(&predicted.stdout).lines().collect();
    assert_eq!(lines.len(), 41);
    assert!(lines[40].starts_with("january/boots/000.png  "), "{}", lines[40]);
    let answers = output(shop.path(), &["predict", "shop.model", "february/clogs", "--json"]);
    let answers: Vec<Value> = text(&answers.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sum: f64 = answers[0]["others"].as_array().unwrap().iter().map(|o| o["probability"].as_f64().unwrap()).sum();
    assert!((sum + answers[0]["probability"].as_f64().unwrap() - 1.0).abs() < 1e-5);
    for (line, answer) in lines.iter().zip(&answers) {
        let class = answer["class"].as_str().unwrap();
        let words = format!("  {class} ");
        assert!(
            line.contains(&words)
                && line.contains(&format!("{:.0} %", 100.0 * answer["probability"].as_f64().unwrap()))
        );
        assert_eq!(line.contains("  unsure"), answer["unsure"].as_bool().unwrap(), "{line}");
    }

    // A visit without a memory's help: the gate is shut.
    shop.photos("march", &["wellingtons", "mules", "brogues"], 40);
    let third = shop.learn("march", &["--max-forgetting", "0", "--lr", "1.5", "--schedule", "constant"]);
    let said = text(&third.stdout);
    let report = &shop.show()["versions"][2];
    let lost = share(&report["old"]["before"]) - share(&report["old"]["after"]);
    assert!(lost > 0.0, "a learning rate of 1.5 must hurt for this test: {report}");
    assert_eq!(third.status.code(), Some(3), "{said}");
    assert!(said.starts_with("version 3 is kept but not used:\n  old classes "), "{said}");
    assert!(said.contains("\n  more than 0 points lost\n"), "{said}");
    assert!(said.contains("\n  use it all the same: rehearsal use shop.model 3\n"), "{said}");
    assert!(lines_fit(said, 60), "{said}");
    assert_eq!((shop.show()["current"].as_u64(), report["used"].as_bool()), (Some(2), Some(false)));

    let shown = output(shop.path(), &["show", "shop.model"]);
    let shown = text(&shown.stdout);
    assert!(lines_fit(shown, 72), "{shown}");
    for part in ["shop.model: version 2, 5 classes", "\n* 2 ", "\n  3 ", "held back", "\nsneakers ", " of 5,000 images"]
    {
        assert!(shown.contains(part), "{part:?} in {shown}");
    }
    let back = output(shop.path(), &["use", "shop.model", "1"]);
    assert_eq!(text(&back.stdout), expected.lines().next().unwrap().to_owned() + "\n");
    assert_eq!(shop.show()["current"], 1);
}

#[test]
fn what_was_seen_before_is_said_and_not_counted_twice() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 30);
    assert!(shop.learn("photos", &[]).status.success());
    let version = fs::read(shop.path().join("shop.model/versions/0001.safetensors")).unwrap();
    let again = shop.learn("photos", &[]);
    assert!(again.status.success() && again.stdout.is_empty());
    assert!(text(&again.stderr).contains("nothing new to learn in 60 images: version 1 stays"), "{again:?}");
    shop.photos("photos", &["mules"], 30);
    let more = json(&shop.learn("photos", &["--json"]));
    assert_eq!((more["seen_before"].as_u64(), more["version"].as_u64()), (Some(60), Some(2)));
    assert_eq!(more["images"].as_u64().unwrap() + more["kept_back"].as_u64().unwrap(), 30);
    assert_eq!(fs::read(shop.path().join("shop.model/versions/0001.safetensors")).unwrap(), version);
    // The same photo under another name is the same photo, and on the same side.
    let listed = output(shop.path(), &["memory", "shop.model", "list", "--json"]);
    let exam: Vec<String> = text(&listed.stdout)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["in"] == "exam")
        .map(|line| line["source"].as_str().unwrap().to_owned())
        .collect();
    fs::create_dir_all(shop.path().join("only-exam/boots")).unwrap();
    for (i, path) in exam.iter().filter(|path| path.contains("boots")).enumerate() {
        fs::copy(shop.path().join(path), shop.path().join(format!("only-exam/boots/other-{i}.png"))).unwrap();
    }
    let known = shop.learn("only-exam", &[]);
    assert!(known.status.success() && text(&known.stderr).contains("nothing new to learn"), "{known:?}");
}

#[test]
fn killed_at_any_moment_it_goes_on_to_the_same_bits() {
    let shop = Shop::new();
    shop.photos("january", &["boots", "clogs"], 40);
    shop.photos("february", &["mules"], 30);
    for visit in ["january", "february"] {
        assert!(shop.learn_as("whole.model", visit, &["--threads", "1"]).status.success());
    }
    let started = Instant::now();
    let (mut kills, log) = (0, shop.path().join("said.txt"));
    for visit in ["january", "february"] {
        for attempt in 0..200u64 {
            let arguments = Shop::arguments("killed.model", visit, &["--checkpoint-every", "0", "--threads", "1"]);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let mut child = rehearsal(shop.path(), &arguments);
            let mut child = child.stderr(fs::File::create(&log).unwrap()).stdout(Stdio::null()).spawn().unwrap();
            // Later and later, so that some progress is made.
            std::thread::sleep(Duration::from_millis(3 + (attempt * 37) % 90 + attempt * 2));
            if let Some(status) = child.try_wait().unwrap() {
                let said = fs::read_to_string(&log).unwrap();
                assert!(status.success(), "attempt {attempt} at {visit}: {status}: {said}");
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            let shown = output(shop.path(), &["show", "killed.model"]);
            let is_whole = shown.status.success()
                || text(&shown.stderr).contains("no whole version yet")
                || text(&shown.stderr).contains("is no model")
                || text(&shown.stderr).contains("there is no model");
            assert!(is_whole, "after a kill: {}", text(&shown.stderr));
        }
    }
    println!("{kills} kills");
    assert!(kills > 5, "only {kills} kills in {:?}", started.elapsed());
    for number in ["0001", "0002"] {
        let version =
            |model: &str| fs::read(shop.path().join(format!("{model}/versions/{number}.safetensors"))).unwrap();
        assert!(version("killed.model") == version("whole.model"), "version {number} after {kills} kills");
    }
    assert!(!shop.path().join("killed.model/learning.safetensors").exists());
}

#[test]
fn versions_beyond_those_that_are_kept_go_but_never_the_current_one() {
    let shop = Shop::new();
    let classes = ["a", "b", "c", "d", "e", "f"];
    shop.photos("0", &classes[..2], 12);
    assert!(shop.learn("0", &["--keep", "2"]).status.success());
    for (visit, class) in classes.iter().enumerate().skip(2) {
        shop.photos(&visit.to_string(), &[class], 12);
        assert!(shop.learn(&visit.to_string(), &[]).status.success());
        if visit == 3 {
            assert!(output(shop.path(), &["use", "shop.model", "2"]).status.success());
        }
    }
    let numbers = |shown: &Value| -> Vec<u64> {
        shown["versions"].as_array().unwrap().iter().map(|version| version["version"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(&shop.show()), [4, 5]);
    let history = shop.show()["history"].as_array().unwrap().len();
    assert_eq!(history, 6, "five visits and one way back");
    refused(&shop, &["use", "shop.model", "1"], "version 1 is not kept; there are 4, 5");
    assert!(output(shop.path(), &["use", "shop.model", "4"]).status.success());
    shop.photos("g", &["g"], 12);
    assert!(shop.learn("g", &["--max-forgetting", "0", "--lr", "3", "--keep", "1"]).status.code().is_some());
    let shown = shop.show();
    assert!(numbers(&shown).contains(&shown["current"].as_u64().unwrap()), "{:?}", numbers(&shown));
}

#[test]
fn what_must_go_is_gone_from_every_version() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs", "mules"], 30);
    assert!(shop.learn("photos", &["--memory", "1MB"]).status.success());
    shop.photos("more", &["brogues"], 20);
    assert!(shop.learn("more", &[]).status.success());
    let listed = |class: &str| {
        let list = output(shop.path(), &["memory", "shop.model", "list", "--class", class]);
        text(&list.stdout).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(listed("boots").len(), 30, "every one of them in memory or exam");
    let dry = output(shop.path(), &["memory", "shop.model", "remove", "photos/boots/00*", "--dry-run"]);
    assert_eq!(text(&dry.stdout).lines().count(), 10);
    let removed = json(&output(shop.path(), &["memory", "shop.model", "remove", "boots/00*", "--json"]));
    assert_eq!((removed["images"].as_u64(), removed["versions"].as_u64()), (Some(10), Some(2)));
    let left = listed("boots");
    assert!(left.len() == 20 && left.iter().all(|line| !line.contains("boots/00")), "{left:?}");
    assert!(output(shop.path(), &["use", "shop.model", "1"]).status.success());
    assert_eq!(listed("boots"), left, "in version 1, too");
    let nothing = output(shop.path(), &["memory", "shop.model", "remove", "boots/00*"]);
    assert!(nothing.status.success() && text(&nothing.stderr).contains("nothing fits"));
    refused(&shop, &["memory", "shop.model", "remove", "--class", "wellingtons"], "there is no class `wellingtons`");
    let class = output(shop.path(), &["memory", "shop.model", "remove", "--class", "clogs"]);
    assert_eq!(text(&class.stdout), "30 images removed from memory and exam in 2 versions\n");
    assert!(text(&class.stderr).contains("stays in the weights"));
    assert!(listed("clogs").is_empty());
    for part in ["sheet", "export"] {
        let out = shop.path().join(part).display().to_string();
        let arguments: Vec<&str> = if part == "sheet" {
            vec!["memory", "shop.model", part, "-o", &out]
        } else {
            vec!["memory", "shop.model", part, &out]
        };
        let written = output(shop.path(), &arguments);
        assert!(written.status.success(), "{}", text(&written.stderr));
    }
    assert!(image::load_from_memory(&fs::read(shop.path().join("sheet")).unwrap()).unwrap().width() > 200);
    let exported = fs::read_dir(shop.path().join("export/mules")).unwrap().count();
    assert_eq!(exported as u64, shop.show()["classes"][2]["memory"].as_u64().unwrap());
}

#[test]
fn classes_are_renamed_and_retired_and_one_can_go_back() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs", "mules"], 20);
    assert!(shop.learn("photos", &[]).status.success());
    let renamed = output(shop.path(), &["class", "shop.model", "rename", "boots", "wellingtons"]);
    assert_eq!(text(&renamed.stdout), "version 2: boots is called wellingtons\n");
    let retired = output(shop.path(), &["class", "shop.model", "retire", "clogs"]);
    assert!(text(&retired.stdout).starts_with("version 3: clogs is retired"), "{retired:?}");
    let names = |shown: &Value| -> Vec<String> {
        shown["classes"].as_array().unwrap().iter().map(|class| class["class"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&shop.show()), ["wellingtons", "mules"]);
    let answers = output(shop.path(), &["predict", "shop.model", "photos", "--json"]);
    assert!(answers.status.success() && !text(&answers.stdout).contains("\"class\":\"clogs\""));
    refused(&shop, &["class", "shop.model", "retire", "mules"], "nothing left to tell apart");
    refused(
        &shop,
        &["class", "shop.model", "rename", "mules", "wellingtons"],
        "there is a class `wellingtons` already",
    );
    refused(&shop, &["class", "shop.model", "retire", "clogs"], "there is no class `clogs`");
    assert!(output(shop.path(), &["use", "shop.model", "1"]).status.success());
    assert_eq!(names(&shop.show()), ["boots", "clogs", "mules"]);
}

#[test]
fn an_evaluation_says_what_was_mistaken_for_what() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 40);
    shop.photos_from("held-out", "boots", 500, 15);
    shop.photos_from("held-out", "clogs", 500, 10);
    shop.photos_from("held-out", "unheard-of", 500, 3);
    assert!(shop.learn("photos", &[]).status.success());
    let evaluated = output(shop.path(), &["evaluate", "shop.model", "held-out", "--report", "eval"]);
    assert!(evaluated.status.success(), "{}", text(&evaluated.stderr));
    assert!(text(&evaluated.stderr).contains("class unheard-of is not known to the model: left out"));
    let told = json(&output(shop.path(), &["evaluate", "shop.model", "held-out", "--json", "--quiet"]));
    let right = told["right"].as_u64().unwrap();
    let rows: Vec<Vec<u64>> = serde_json::from_value(told["confusion"].clone()).unwrap();
    assert_eq!((rows[0].iter().sum::<u64>(), rows[1].iter().sum::<u64>()), (15, 10));
    assert_eq!((rows[0][0] + rows[1][1], told["wrong"].as_array().unwrap().len() as u64), (right, 25 - right));
    let said = text(&evaluated.stdout);
    assert!(
        said.starts_with(&format!("version 1: {:.1} % right, {right} of 25 photos\n", 4.0 * right as f64)),
        "{said}"
    );
    let page = fs::read_to_string(shop.path().join("eval/index.html")).unwrap();
    assert_eq!(page.matches("<figure>").count() as u64, 25 - right);
    assert!(page.contains("<h1>Version 1: ") && !page.contains("http"), "it needs no network");
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence_and_nothing_changes() {
    let shop = Shop::new();
    fs::create_dir_all(shop.path().join("empty/boots")).unwrap();
    shop.photos("one", &["boots"], 10);
    shop.photos("photos", &["boots", "clogs"], 12);
    let learn = |folder: &'static str, more: &[&'static str]| -> Vec<&'static str> {
        [&["learn", "shop.model", folder, "--settings", "small.toml"], more].concat()
    };
    refused(&shop, &learn("missing", &[]), "missing");
    refused(&shop, &learn("empty", &[]), "there is nothing to learn: no image in folders of classes");
    refused(&shop, &learn("one", &[]), "one class, `boots`, is nothing to tell apart");
    refused(&shop, &learn("photos", &["--memory", "1"]), "a memory of 1 images is too small for 2 classes");
    for verb in [&["show", "shop.model"][..], &["predict", "shop.model", "photos"], &["use", "shop.model", "1"]] {
        refused(&shop, verb, "there is no model shop.model: `rehearsal learn shop.model FOLDER` makes one");
    }
    refused(&shop, &["show", "photos"], "photos is no model of Rehearsal");
    refused(&shop, &["learn", "photos", "photos"], "photos is no model of Rehearsal");
    refused(&shop, &["learn", "small.toml", "photos"], "small.toml is no model of Rehearsal");
    assert!(output(shop.path(), &learn("photos", &["--memory", "4"])).status.success());
    refused(&shop, &learn("photos", &["--width", "7"]), "`--width` is 6 in this model and cannot become 7");
    refused(&shop, &learn("photos", &["--size", "32"]), "`--size` is 24 in this model and cannot become 32");
    refused(&shop, &learn("photos", &["--max-forgetting", "101"]), "not between 0 and 100");
    shop.photos("three", &["d", "e", "f"], 8);
    refused(&shop, &learn("three", &[]), "a memory of 4 images is too small for 5 classes: `--memory 5` or more");
    refused(&shop, &["predict", "shop.model", "small.toml"], "no photo");
    refused(&shop, &["predict", "shop.model", "photos", "--version", "9"], "version 9 is not kept; there are 1");
    refused(&shop, &["predict", "shop.model", "photos", "--threshold", "101"], "not between 0 and 100 %");
    refused(&shop, &["evaluate", "shop.model", "three"], "no photo of a class that the model knows");
}

#[test]
fn a_photo_that_cannot_be_read_is_named_and_may_be_left_out() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    fs::write(shop.path().join("photos/boots/broken.jpg"), b"\xff\xd8\xff\xe0 no more").unwrap();
    refused(&shop, &["learn", "shop.model", "photos", "--settings", "small.toml"], "broken.jpg");
    let left_out = shop.learn("photos", &["--skip-bad"]);
    assert!(left_out.status.success(), "{}", text(&left_out.stderr));
    assert!(text(&left_out.stderr).contains("left out: photos/boots/broken.jpg: "), "{left_out:?}");
    refused(&shop, &["predict", "shop.model", "photos/boots/broken.jpg"], "broken.jpg");
    let goes_on = output(shop.path(), &["predict", "shop.model", "photos/boots", "--skip-bad"]);
    assert_eq!(text(&goes_on.stdout).lines().count(), 12);
    assert!(text(&goes_on.stderr).contains("broken.jpg"));
}

#[test]
fn a_damaged_model_is_refused_and_nothing_changes() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    shop.photos("more", &["mules"], 12);
    assert!(shop.learn("photos", &[]).status.success());
    let files = ["model.toml", "history.jsonl", "versions/0001.safetensors"];
    for file in files {
        let path = shop.path().join("shop.model").join(file);
        let whole = fs::read(&path).unwrap();
        for place in [0, 9, whole.len() / 3, whole.len() / 2, whole.len() - 2] {
            let mut damaged = whole.clone();
            damaged[place] ^= 4;
            fs::write(&path, &damaged).unwrap();
            refused(&shop, &["show", "shop.model"], file.rsplit('/').next().unwrap());
            if file != "history.jsonl" {
                refused(&shop, &["predict", "shop.model", "photos"], file.rsplit('/').next().unwrap());
            }
            refused(
                &shop,
                &["learn", "shop.model", "more", "--settings", "small.toml"],
                file.rsplit('/').next().unwrap(),
            );
        }
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        refused(&shop, &["show", "shop.model"], file.rsplit('/').next().unwrap());
        fs::write(&path, &whole).unwrap();
    }
    fs::remove_file(shop.path().join("shop.model/versions/0001.safetensors")).unwrap();
    refused(&shop, &["show", "shop.model"], "0001.safetensors cannot be read");
    fs::write(shop.path().join("shop.model/model.toml"), "format = 9\n").unwrap();
    refused(&shop, &["show", "shop.model"], "model.toml has format 9; this program reads format 1");
}

#[test]
fn two_visits_at_once_are_refused_and_a_stopped_one_goes_on() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 40);
    let long = Shop::arguments("shop.model", "photos", &["--passes", "4000"]);
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let mut first = rehearsal(shop.path(), &long).spawn().unwrap();
    while !shop.path().join("shop.model/lock").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    refused(&shop, &long, "another process is changing shop.model");
    refused(&shop, &["show", "shop.model"], "shop.model");
    let stopped = std::process::Command::new("kill").args(["-INT", &first.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    assert_eq!(first.wait().unwrap().code(), Some(130));
    refused(&shop, &["show", "shop.model"], "has no whole version yet: run the same `rehearsal learn` again");
    let mut second = rehearsal(shop.path(), &long).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let _ = std::process::Command::new("kill").args(["-INT", &second.id().to_string()]).status().unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut second.stderr.take().unwrap(), &mut said).unwrap();
    assert!(second.wait().unwrap().code() == Some(130) && said.contains("going on after step"), "{said}");
}

/// A limit on the size of files stands for a full disk: both fail in the middle of writing.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_model_as_it_was() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    shop.photos("more", &["mules"], 12);
    assert!(shop.learn("photos", &[]).status.success());
    let before = shop.contents();
    let program = env!("CARGO_BIN_EXE_rehearsal");
    let script = format!("trap '' XFSZ; ulimit -f 20; exec {program} learn shop.model more --settings small.toml");
    let full = std::process::Command::new("sh").arg("-c").arg(script).current_dir(shop.path()).output().unwrap();
    let errors = text(&full.stderr);
    assert_eq!(full.status.code(), Some(1), "{errors}");
    assert!(errors.contains("0002.safetensors cannot be written"), "{errors}");
    assert_eq!(shop.contents(), before);
    assert!(shop.learn("more", &[]).status.success(), "with room it goes on");
}
