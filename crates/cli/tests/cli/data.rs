//! `rehearsal data`, and runs on fetched data: the real binary, as a person or a script runs it.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{
    self, Files, Home, cifar100,
    server::{Answer, Server},
};

/// The binary, with data at home in `home`.
fn rehearsal(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rehearsal"));
    command.current_dir(home).args(arguments).env("REHEARSAL_DATA", home.join("data")).stdin(Stdio::null());
    command
}

fn output(home: &Path, arguments: &[&str]) -> Output {
    rehearsal(home, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[track_caller]
fn succeeds(home: &Path, arguments: &[&str]) -> String {
    let output = output(home, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

#[track_caller]
fn fails(home: &Path, arguments: &[&str], code: i32, why: &str) {
    let output = output(home, arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
    assert!(errors.contains(why), "{arguments:?}: {errors}");
}

fn state(home: &Path, name: &str) -> String {
    let list: Value = serde_json::from_str(&succeeds(home, &["data", "list", "--json"])).unwrap();
    let dataset = list["datasets"].as_array().unwrap().iter().find(|dataset| dataset["name"] == name).unwrap();
    dataset["state"].as_str().unwrap().into()
}

#[test]
fn a_data_set_is_fetched_listed_verified_shown_and_learnt() {
    let home = Home::new();
    let path = home.path();
    let server = Server::start([("/cifar-100-binary.tar.gz", Answer::Cut(cifar100(), 1000))]);
    assert_eq!(state(path, "cifar100"), "absent");
    fails(path, &["data", "fetch", "cifar100", "--mirror", &server.url], 1, "is not the official file: its md5 is");
    assert_eq!(state(path, "cifar100"), "absent");
    let fetch = ["data", "fetch", "cifar100", "--mirror", &server.url, "--trust"];
    fails(path, &fetch, 1, "not complete and were not kept: there are only 3 of 50,000 training images");
    assert_eq!(state(path, "cifar100"), "absent");
    let printed = succeeds(path, &[&fetch[..], &["--part"]].concat());
    assert_eq!(printed.trim(), path.join("data/cifar100").to_str().unwrap());
    assert_eq!(state(path, "cifar100"), "part");
    let table = succeeds(path, &["data", "list"]);
    assert!(table.lines().any(|line| line.starts_with("cifar100") && line.contains("part: 3 of 50,000 ")), "{table}");
    assert!(table.contains("CC BY 4.0") && table.contains("\ndata directory: "), "{table}");

    let verify = output(path, &["data", "verify", "cifar100", "--json", "-q"]);
    assert_eq!(verify.status.code(), Some(1), "a part is not whole");
    let report: Value = serde_json::from_slice(&verify.stdout).unwrap();
    assert_eq!(report["report"]["incomplete"]["train"], serde_json::json!({ "found": 3, "published": 50_000 }));
    assert_eq!(report["report"]["bad"], serde_json::json!([]));
    assert_eq!((&report["report"]["files"], &report["report"]["records"]), (&3.into(), &4.into()));
    let stats: Value = serde_json::from_str(&succeeds(path, &["data", "stats", "cifar100", "--json"])).unwrap();
    assert_eq!((&stats["train"], &stats["classes"][99]["train"]), (&3.into(), &1.into()));
    assert!(succeeds(path, &["data", "stats", "cifar100"]).contains("images of 32×32, 3 channels"));
    assert_eq!(succeeds(path, &["data", "preview", "cifar100", "-o", "sheet.png", "--per-class", "2"]), "sheet.png\n");
    let sheet = image::open(path.join("sheet.png")).unwrap();
    assert!(sheet.height() * sheet.width() > 100 * 2 * 32 * 32, "room for two images of each class");

    let file = path.join("data/cifar100/archive/cifar-100-binary/test.bin");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[2000] ^= 32;
    std::fs::write(&file, bytes).unwrap();
    let verify = output(path, &["data", "verify", "cifar100"]);
    assert_eq!(verify.status.code(), Some(1));
    assert_eq!(
        text(&verify.stdout),
        format!("{}: is not as it was unpacked\n", file.display()),
        "data on standard output"
    );
    assert!(text(&verify.stderr).contains("1 bad file"), "{}", text(&verify.stderr));
}

#[test]
fn what_cannot_be_fetched_is_explained() {
    let home = Home::new();
    fails(home.path(), &["data", "fetch", "cifar"], 2, "did you mean `cifar10`?");
    fails(home.path(), &["data", "fetch", "mini-imagenet"], 2, "--from FILE");
    fails(home.path(), &["data", "fetch", "embedded"], 2, "there is nothing to fetch");
    fails(home.path(), &["data", "fetch", "cifar10", "--from", "x.zip"], 2, "x.zip is not a file of cifar10");
    fails(home.path(), &["data", "stats", "core50"], 2, "rehearsal data fetch core50");
    fails(home.path(), &["run", "--dataset", "core50"], 2, "rehearsal data fetch core50");
    let server = Server::start([]);
    fails(home.path(), &["data", "fetch", "core50", "--mirror", &server.url], 1, "the server answers 404 Not Found");
    let help = succeeds(home.path(), &["data", "--help"]);
    assert!(help.contains("Examples:") && help.contains("$REHEARSAL_DATA"));
}

/// A folder of two classes of photographs.
fn folder(home: &Path) -> PathBuf {
    let root = home.join("photos");
    for (class, blue) in [("cat", 20), ("dog", 200)] {
        std::fs::create_dir_all(root.join(class)).unwrap();
        (0..25u8).for_each(|i| {
            std::fs::write(root.join(class).join(format!("{i}.jpg")), support::jpeg(40, 20, blue + i)).unwrap();
        });
    }
    root
}

#[test]
fn a_run_on_a_folder_packs_it_once_and_skips_what_is_no_image_only_when_told() {
    let home = Home::new();
    let root = folder(home.path());
    std::fs::write(root.join("cat/5.jpg"), b"no image").unwrap();
    let run = |more: &[&str]| {
        let base = [
            "run",
            "--dataset",
            "folder",
            "--data",
            "photos",
            "--size",
            "16",
            "--tasks",
            "2",
            "--width",
            "4",
            "--memory",
            "5",
        ];
        output(home.path(), &[&base, more].concat())
    };
    let refused = run(&["--out", "a"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("photos/cat/5.jpg is not a readable image"), "{}", text(&refused.stderr));
    assert!(!home.path().join("a").exists());
    let run = run(&["--out", "b", "--skip-bad", "--json"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert!(
        text(&run.stderr).contains("1 file is not an image and was skipped:\n  cat/5.jpg: "),
        "{}",
        text(&run.stderr)
    );
    let result: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&result["config"]["size"], &result["config"]["skip-bad"]), (&16.into(), &true.into()));
    let told = text(&run.stderr);
    assert!(told.contains("packing 50 images of 16×16 into ") && told.contains("photos/.rehearsal/packs"), "{told}");
    let packs: Vec<_> = std::fs::read_dir(root.join(".rehearsal/packs")).unwrap().collect();
    assert_eq!(packs.len(), 2, "{packs:?}");
    assert!(!home.path().join("data").exists(), "and nowhere else");
}

/// `run`, `verify`, `stats` and `preview` name what they do not read alike.
#[test]
fn what_is_not_read_is_named_by_every_verb() {
    let home = Home::new();
    let root = folder(home.path());
    for name in ["cat/IMG_0231.HEIC", "notes.txt", "dog/photo.avif", "cat/.DS_Store", "loose.jpg"] {
        std::fs::write(root.join(name), b"").unwrap();
    }
    (0..7).for_each(|i| std::fs::write(root.join(format!("dog/{i}.txt")), b"").unwrap());
    for class in ["empty", "dog/small", "one"] {
        std::fs::create_dir_all(root.join(class)).unwrap();
    }
    for name in ["dog/small/1.jpg", "dog/small/2.jpg", "one/1.jpg"] {
        std::fs::write(root.join(name), support::jpeg(40, 20, 77)).unwrap();
    }
    let expected = [
        "\n11 files are ignored, and 1 hidden:\n",
        "\n  cat/IMG_0231.HEIC: HEIC is not read, convert it to JPEG\n",
        "\n  dog/photo.avif: AVIF is not read, convert it to JPEG\n",
        "\n  loose.jpg: not in a folder of a class\n  and 1 more: not an image\n",
        "\nfolders inside folders are classes, named by their paths: dog/small\n",
    ];
    let data = ["folder", "--data", "photos", "--size", "16"];
    let run = ["run", "--dataset", "folder", "--data", "photos", "--size", "16", "--tasks", "5", "--width", "4"];
    let verbs = [&["data", "verify"][..], &["data", "stats"], &["data", "preview"]].map(|verb| [verb, &data].concat());
    for command in verbs.into_iter().chain([run.to_vec()]) {
        let said = output(home.path(), &command);
        let errors = format!("\n{}", text(&said.stderr));
        for line in expected {
            assert_eq!(errors.matches(line).count(), 1, "{command:?}: {line:?} in {errors}");
        }
    }
    let verify = output(home.path(), &[&["data", "verify"][..], &data].concat());
    let errors = text(&verify.stderr);
    assert!(verify.status.success(), "{errors}");
    assert!(errors.contains("class `empty` has no images\n"), "{errors}");
    assert!(errors.contains("class `one` has one image: none is left for testing\n"), "{errors}");
    let json: Value =
        serde_json::from_str(&succeeds(home.path(), &[&["data", "verify", "--json", "-q"][..], &data].concat()))
            .unwrap();
    let ignored = json["report"]["ignored"].as_array().unwrap();
    assert_eq!(ignored.len(), 12);
    assert!(ignored.iter().any(|file| file["why"] == "HEIC is not read, convert it to JPEG"), "{json}");
    fails(home.path(), &run, 2, "error: class `empty` has no");
}

#[test]
fn packs_that_nobody_uses_are_removed_and_named() {
    let home = Home::new();
    let root = folder(home.path());
    let stats = ["data", "stats", "folder", "--data", "photos", "--size", "16"];
    let clean = ["data", "clean", "--data", "photos"];
    succeeds(home.path(), &stats);
    std::fs::remove_file(root.join("cat/3.jpg")).unwrap();
    succeeds(home.path(), &stats);
    let packs = || std::fs::read_dir(root.join(".rehearsal/packs")).unwrap().count();
    let dry = output(home.path(), &[&clean[..], &["--dry-run"]].concat());
    assert_eq!((packs(), text(&dry.stdout).lines().count()), (4, 2), "{}", text(&dry.stdout));
    assert!(text(&dry.stdout).contains("have changed\n") && text(&dry.stderr).contains("would be removed"));
    let json: Value = serde_json::from_str(&succeeds(home.path(), &[&clean[..], &["--json"]].concat())).unwrap();
    assert_eq!((&json["removed"], json["files"].as_array().unwrap().len(), packs()), (&true.into(), 2, 2));
    assert!(text(&output(home.path(), &clean).stderr).contains("every pack is used"));
    let third = output(home.path(), &stats);
    assert!(!text(&third.stderr).contains("packing"), "{}", text(&third.stderr));
}

/// Columns line up by what a terminal shows, and sheets are drawn in every script.
#[test]
fn names_in_any_script_line_up_and_are_drawn() {
    let home = Home::new();
    for class in ["cat", "猫", "кошка", "قطة"] {
        std::fs::create_dir_all(home.path().join("photos").join(class)).unwrap();
        for i in 0..5u8 {
            let path = home.path().join("photos").join(class).join(format!("{i}.jpg"));
            std::fs::write(path, support::jpeg(40, 20, i)).unwrap();
        }
    }
    let stats = succeeds(home.path(), &["data", "stats", "folder", "--data", "photos", "--size", "16"]);
    assert!(stats.contains("\nкошка        4        1\n"), "{stats}");
    assert!(stats.contains("\n猫           4        1\n"), "a letter of two columns: {stats}");
    succeeds(home.path(), &["data", "preview", "folder", "--data", "photos", "--size", "16", "-o", "sheet.png"]);
    let sheet = image::open(home.path().join("sheet.png")).unwrap().into_luma8();
    let row = sheet.height() / 4;
    for class in 0..4 {
        let dark = |x: u32, y: u32| sheet.get_pixel(x, class * row + y).0[0] < 128;
        let ink = (0..40).flat_map(|x| (4..row).map(move |y| (x, y))).filter(|&(x, y)| dark(x, y)).count();
        assert!(ink > 20, "class {class} has a name: {ink} dark pixels");
    }
}

/// A class may be called anything: what a terminal would obey is shown instead.
#[test]
#[cfg(unix)]
fn names_do_not_reach_the_terminal_raw() {
    let home = Home::new();
    let class = home.path().join("photos/\x1b[2Jcat");
    std::fs::create_dir_all(&class).unwrap();
    (0..5u8).for_each(|i| std::fs::write(class.join(format!("{i}.jpg")), support::jpeg(40, 20, i)).unwrap());
    let stats = succeeds(home.path(), &["data", "stats", "folder", "--data", "photos", "--size", "16"]);
    assert!(stats.contains("\\u{1b}[2Jcat") && !stats.contains('\x1b'), "{stats:?}");
    std::fs::write(class.join("bad.jpg"), "no image").unwrap();
    let verify = output(home.path(), &["data", "verify", "folder", "--data", "photos"]);
    assert_eq!(verify.status.code(), Some(1));
    assert!(text(&verify.stdout).contains("\\u{1b}[2Jcat/bad.jpg") && !text(&verify.stdout).contains('\x1b'));
}

/// Waits until something is there, and kills the process then.
fn killed_when(mut command: Command, there: impl Fn() -> bool) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    while !there() {
        assert!(child.try_wait().unwrap().is_none() && Instant::now() < deadline, "it ended before it could be killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_process_killed_while_unpacking_leaves_nothing_that_is_taken_for_complete() {
    let home = Home::new();
    let names: String = (0..100).map(|i| format!("{i}\n")).collect();
    let record = support::cifar_record(&[1, 2], 3);
    let files: Files = vec![
        ("cifar-100-binary/fine_label_names.txt".into(), names.into_bytes()),
        ("cifar-100-binary/test.bin".into(), record.repeat(10_000)),
        ("cifar-100-binary/train.bin".into(), record.repeat(50_000)),
    ];
    let archive = home.by_hand("cifar-100-binary.tar.gz", &support::tar_gz(&files));
    let fetch = ["data", "fetch", "cifar100", "--from", archive.to_str().unwrap(), "--trust"];
    let unpacking = home.path().join("data/cifar100/archive.unpacking/cifar-100-binary");
    for half in ["fine_label_names.txt", "train.bin"] {
        killed_when(rehearsal(home.path(), &fetch), || unpacking.join(half).exists());
        assert!(unpacking.exists(), "it was killed on the way");
        assert_eq!(state(home.path(), "cifar100"), "partial");
        fails(home.path(), &["run", "--dataset", "cifar100"], 2, "rehearsal data fetch cifar100");
    }
    succeeds(home.path(), &fetch);
    assert_eq!(state(home.path(), "cifar100"), "ready");
    let report = succeeds(home.path(), &["data", "verify", "cifar100", "--json"]);
    assert!(report.contains("\"records\":60000") && report.contains("\"bad\":[]"), "{report}");
    assert!(!unpacking.exists());
}

#[test]
fn a_process_killed_while_packing_leaves_nothing_that_is_taken_for_complete() {
    let home = Home::new();
    let root = home.path().join("photos/train/a");
    let image = support::jpeg(900, 900, 7);
    for (folder, count) in [(root.clone(), 700), (home.path().join("photos/test/a"), 2)] {
        std::fs::create_dir_all(&folder).unwrap();
        (0..count).for_each(|i| std::fs::write(folder.join(format!("{i:03}.jpg")), &image).unwrap());
    }
    let stats = ["data", "stats", "folder", "--data", "photos", "--size", "32", "--json"];
    let packs = home.path().join("photos/.rehearsal/packs");
    let with = |extension: &str| -> Vec<PathBuf> {
        let files = std::fs::read_dir(&packs).into_iter().flatten().flatten().map(|entry| entry.path());
        files.filter(|path| path.to_string_lossy().ends_with(extension)).collect()
    };
    let lines = || with(".journal").first().map_or(0, |path| std::fs::read_to_string(path).unwrap().lines().count());
    for wanted in [1, 3] {
        killed_when(rehearsal(home.path(), &stats), || lines() >= wanted);
        assert!(with(".pack").is_empty() && !with(".partial").is_empty(), "killed on the way, and nothing is complete");
    }
    let result: Value = serde_json::from_str(&succeeds(home.path(), &stats)).unwrap();
    assert_eq!((&result["train"], &result["duplicates_in_train"]), (&700.into(), &699.into()));
    assert_eq!((with(".pack").len(), with("").len()), (2, 2));
    let report = succeeds(home.path(), &["data", "verify", "folder", "--data", "photos", "--json"]);
    assert!(report.contains("\"packs\":2") && report.contains("\"bad\":[]"), "{report}");
}

/// Debian's package, without any flag; says so where it is not installed.
#[test]
fn fashion_mnist_is_found_without_a_flag() {
    if !Path::new("/usr/share/datasets/fashion-mnist").is_dir() {
        eprintln!("SKIPPED: install Debian's dataset-fashion-mnist to run this test");
        return;
    }
    let home = Home::new();
    assert_eq!(state(home.path(), "fashion-mnist"), "ready");
    let run = [
        "run",
        "--dataset",
        "fashion-mnist",
        "--train-per-class",
        "20",
        "--test-per-class",
        "5",
        "--width",
        "4",
        "--quiet",
    ];
    succeeds(home.path(), &run);
    let chained = [
        "run",
        "--dataset",
        "embedded+fashion-mnist",
        "--train-per-class",
        "10",
        "--test-per-class",
        "5",
        "--width",
        "4",
        "--quiet",
    ];
    succeeds(home.path(), &chained);
}
