//! A model with the pre-trained backbone, by the real binary: the three promises, and what it answers.

use std::{fs, path::Path, process::Output};

use serde_json::Value;

use crate::{
    program::{output, text},
    shop::{Shop, json, lines_fit, refused},
    told,
};

#[track_caller]
fn run(shop: &Shop, arguments: &[&str]) -> Output {
    let output = output(shop.path(), arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    output
}

fn head(shop: &Shop, model: &str) -> Value {
    json(&run(shop, &["show", model, "--json"]))["config"]["head_sha256"].clone()
}

fn version(shop: &Shop, model: &str, number: u32) -> Vec<u8> {
    fs::read(shop.path().join(format!("{model}/versions/{number:04}.safetensors"))).unwrap()
}

#[test]
fn order_and_number_of_sessions_do_not_matter_and_a_deleted_photo_was_never_seen() {
    let shop = Shop::new();
    ["sandal", "bag"].iter().for_each(|class| shop.clothes("january", class, 0, 12));
    shop.clothes("february", "dress", 0, 12);
    shop.clothes("february", "sandal", 50, 7);
    let learned = run(&shop, &["learn", "a.model", "january"]);
    let report = json(&run(&shop, &["learn", "twin.model", "january", "--json", "--quiet"]));
    assert_eq!(text(&learned.stdout), told::session(&report));
    run(&shop, &["learn", "a.model", "february"]);
    run(&shop, &["learn", "b.model", "february"]);
    run(&shop, &["learn", "b.model", "january"]);
    run(&shop, &["learn", "c.model", "january", "february", "--threads", "1"]);
    assert!(version(&shop, "a.model", 2) == version(&shop, "b.model", 2), "the other order");
    assert!(version(&shop, "a.model", 2) == version(&shop, "c.model", 1), "at once, on one thread");

    let removed = run(&shop, &["memory", "a.model", "remove", "january/bag/003.png"]);
    assert!(text(&removed.stdout).starts_with("1 image removed"), "{}", text(&removed.stdout));
    fs::rename(shop.path().join("january/bag/003.png"), shop.path().join("x.png")).unwrap();
    run(&shop, &["learn", "d.model", "february", "january"]);
    assert!(version(&shop, "a.model", 2) == version(&shop, "d.model", 1), "as if it had never been");
    assert_ne!(head(&shop, "a.model"), head(&shop, "b.model"));

    // Moving, merging, renaming and retiring leave what never was otherwise.
    run(&shop, &["memory", "d.model", "move", "january/sandal/00*", "--to", "bag"]);
    run(&shop, &["class", "d.model", "merge", "bag", "dress"]);
    run(&shop, &["class", "d.model", "rename", "dress", "soft shoes"]);
    let place = |folder: &str| shop.path().join("other").join(folder);
    for (from, to) in [("january/sandal", "sandal"), ("february/sandal", "sandal"), ("january/bag", "soft shoes")] {
        copy(&shop.path().join(from), &place(to), |_| true);
    }
    copy(&shop.path().join("february/dress"), &place("soft shoes"), |_| true);
    for number in 0..10 {
        let name = format!("00{number}.png");
        fs::rename(place("sandal").join(format!("january_sandal_{name}")), place("soft shoes").join(&name)).unwrap();
    }
    run(&shop, &["learn", "e.model", "other"]);
    assert_eq!(head(&shop, "d.model"), head(&shop, "e.model"));
    let shown = run(&shop, &["show", "d.model"]);
    assert!(text(&shown.stdout).contains("Gaussian head on efficientnet-lite0"), "{}", text(&shown.stdout));
    assert!(lines_fit(text(&shown.stdout), 80));
}

fn copy(from: &Path, to: &Path, which: impl Fn(&str) -> bool) {
    fs::create_dir_all(to).unwrap();
    let parts: Vec<String> = from.iter().rev().take(2).map(|part| part.to_string_lossy().into_owned()).collect();
    for entry in fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if which(&name) {
            fs::copy(from.join(&name), to.join(format!("{}_{}_{name}", parts[1], parts[0]))).unwrap();
        }
    }
}

#[test]
fn answers_are_sure_unsure_or_unknown_and_never_sure_without_a_holdout_set() {
    let shop = Shop::new();
    let classes = ["sandal", "bag", "dress"];
    classes.iter().for_each(|class| shop.clothes("few", class, 0, 6));
    run(&shop, &["learn", "few.model", "few"]);
    let few = run(&shop, &["predict", "few.model", "few", "--json"]);
    for line in text(&few.stdout).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&line["answer"], &line["reason"]), (&"unsure".into(), &"the holdout set is too small".into()));
    }
    assert!(text(&few.stderr).contains("every answer is unsure: the holdout set is too small"));

    classes.iter().for_each(|class| shop.clothes("many", class, 0, 100));
    run(&shop, &["learn", "many.model", "many"]);
    shop.clothes("new", "sandal", 120, 3);
    // Nothing like the others: coloured noise.
    let noise = |x: u32, y: u32| [3, 5, 7].map(|c| (x * 97 * c + y * 193 * c * c + x * y * 31) as u8);
    let noise = image::RgbImage::from_fn(64, 64, |x, y| image::Rgb(noise(x, y)));
    noise.save(shop.path().join("new/noise.png")).unwrap();
    let lines = run(&shop, &["predict", "many.model", "new", "--json", "--explain"]);
    let answers: Vec<Value> = text(&lines.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let noise = answers.iter().find(|answer| answer["path"].as_str().unwrap().contains("noise")).unwrap();
    assert_eq!(noise["answer"], "unknown", "{noise}");
    for sandal in answers.iter().filter(|answer| answer["path"].as_str().unwrap().contains("sandal")) {
        assert_eq!((&sandal["class"], sandal["similar"].as_array().unwrap().len()), (&"sandal".into(), 3), "{sandal}");
        assert_eq!(sandal["similar"][0]["class"], "sandal");
    }
    let printed = run(&shop, &["predict", "many.model", "new"]);
    assert!(text(&printed.stdout).lines().any(|line| line.contains("unknown") && line.contains("(nearest ")));
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let shop = Shop::new();
    shop.photos("one", &["sandal"], 6);
    refused(&shop, &["learn", "m.model", "one"], "only one class found (sandal)");
    shop.photos("two", &["sandal", "bag"], 6);
    refused(&shop, &["learn", "m.model", "two", "--backbone", "vgg"], "efficientnet-lite0");
    refused(&shop, &["learn", "m.model", "two", "--backbone", "resnet18"], "rehearsal backbone fetch resnet18");
    fs::write(shop.path().join("x.onnx"), "not a network").unwrap();
    refused(&shop, &["learn", "m.model", "two", "--backbone", "x.onnx"], "x.onnx");
    fs::write(shop.path().join("resnet18.pth"), "not weights").unwrap();
    refused(&shop, &["backbone", "fetch", "resnet18", "--from", "resnet18.pth", "-q"], "bytes");
    refused(&shop, &["backbone", "remove", "efficientnet-lite0"], "inside the program");
    refused(&shop, &["learn", "m.model", "two", "--epochs", "3"], "add `--backbone scratch`");
    refused(&shop, &["learn", "m.model", "two", "--memory", "1"], "too small for 2 classes");
    fs::write(shop.path().join("two/sandal/bad.jpg"), "not an image").unwrap();
    refused(&shop, &["learn", "m.model", "two"], "a photo cannot be read");
    run(&shop, &["learn", "m.model", "two", "--skip-bad"]);
    refused(&shop, &["learn", "m.model", "two", "--skip-bad", "--backbone", "scratch"], "cannot change");
    refused(&shop, &["class", "m.model", "retire", "sandal"], "only one class is left");
    refused(&shop, &["class", "m.model", "merge", "sandal", "bag"], "only one class is left");
    refused(&shop, &["class", "m.model", "rename", "sandal", "bag"], "there is a class `bag` already");
    refused(&shop, &["memory", "m.model", "move", "nothing*", "--to", "bag"], "no photo matches");
    refused(&shop, &["memory", "m.model", "remove", "--class", "bag"], "only one class is left");
    refused(&shop, &["export", "m.model", "--safetensors", "x.safetensors"], "exported as ONNX only");
    refused(&shop, &["features", "two", "-o", "x.csv", "--skip-bad"], "does not end in .safetensors or .npy");
}

#[test]
fn a_photo_that_is_no_longer_remembered_is_given_again_to_be_removed() {
    let shop = Shop::new();
    shop.photos("all", &["sandal", "bag"], 40);
    run(&shop, &["learn", "a.model", "all", "--memory", "10"]);
    let held: Vec<Value> = text(&run(&shop, &["memory", "a.model", "list", "--json"]).stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let file = (0..40).map(|number| format!("all/bag/{number:03}.png"));
    let file = file.into_iter().find(|file| held.iter().all(|held| held["source"] != **file)).unwrap();
    let removed = run(&shop, &["memory", "a.model", "remove", &file]);
    assert!(text(&removed.stdout).starts_with("1 image removed"), "{}", text(&removed.stdout));
    fs::rename(shop.path().join(&file), shop.path().join("gone.png")).unwrap();
    run(&shop, &["learn", "b.model", "all", "--memory", "10"]);
    assert_eq!(head(&shop, "a.model"), head(&shop, "b.model"));
    shop.photos("more", &["dress"], 8);
    run(&shop, &["learn", "a.model", "more"]);
    refused(&shop, &["class", "a.model", "retire", "bag"], "no longer in memory");
    run(&shop, &["class", "a.model", "retire", "bag", "--photos", "all/bag"]);
    shop.photos("without", &["sandal"], 40);
    run(&shop, &["learn", "c.model", "without", "more", "--memory", "10"]);
    assert_eq!(head(&shop, "a.model"), head(&shop, "c.model"));
}

#[test]
fn a_holdout_set_can_be_given_as_a_folder_or_beside_the_training_part() {
    let shop = Shop::new();
    for class in ["sandal", "bag"] {
        shop.clothes("set/train", class, 0, 30);
        shop.clothes("set/val", class, 60, 15);
        shop.clothes("plain", class, 0, 30);
        shop.clothes("more", class, 100, 20);
    }
    shop.clothes("more", "dress", 0, 3);
    let beside = json(&run(&shop, &["learn", "a.model", "set", "--json", "--quiet"]));
    assert_eq!((&beside["images"], &beside["held_out"]), (&60.into(), &30.into()));
    assert_eq!(beside["holdout"]["total"].as_u64().unwrap() + beside["near_duplicates"].as_u64().unwrap(), 30);
    let given = run(&shop, &["learn", "b.model", "plain", "--holdout", "set/val"]);
    assert!(text(&given.stderr).contains("read 60 images of 2 classes"), "{}", text(&given.stderr));
    assert_eq!(head(&shop, "a.model"), head(&shop, "b.model"));
    let later = run(&shop, &["learn", "b.model", "plain", "--holdout", "more"]);
    assert!(text(&later.stderr).contains("3 of classes that the model does not know"), "{}", text(&later.stderr));
    assert_eq!(head(&shop, "a.model"), head(&shop, "b.model"), "never learned");
    let listed = run(&shop, &["memory", "b.model", "list", "--json"]);
    assert_eq!(text(&listed.stdout).lines().filter(|line| line.contains("\"holdout\"")).count(), 70);
    refused(
        &shop,
        &["learn", "c.model", "plain", "--backbone", "scratch", "--holdout", "more"],
        "pre-trained backbone",
    );
}

#[test]
fn a_model_whose_network_file_is_gone_or_another_says_so_and_can_still_be_looked_at() {
    let networks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../backbone/tests/onnx");
    let shop = Shop::new();
    shop.photos("all", &["sandal", "bag"], 12);
    let network = shop.path().join("mine.onnx");
    fs::copy(networks.join("fixed.onnx"), &network).unwrap();
    run(&shop, &["learn", "m.model", "all", "--backbone", "mine.onnx"]);
    run(&shop, &["predict", "m.model", "all"]);
    fs::copy(networks.join("dynamic.onnx"), &network).unwrap();
    refused(&shop, &["predict", "m.model", "all"], "other weights");
    fs::remove_file(&network).unwrap();
    for verb in [&["predict", "m.model", "all"][..], &["learn", "m.model", "all"], &["evaluate", "m.model", "all"]] {
        refused(&shop, verb, "put that file back at ");
    }
    for verb in [&["show", "m.model"][..], &["use", "m.model", "1"], &["memory", "m.model", "list"]] {
        run(&shop, verb);
    }
}
