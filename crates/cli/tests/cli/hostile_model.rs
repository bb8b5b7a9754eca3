//! Models and photos that somebody made to hurt: answered soon, in a sentence, and nothing else is
//! touched.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Output},
};

use crate::{
    program::{output, text},
    shop::Shop,
};

/// What it answers within a minute and two gigabytes of address space; a hang has exit code 137.
fn soon(shop: &Shop, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 2000000; exec timeout -s KILL 60 \"$@\"", "sh", env!("CARGO_BIN_EXE_rehearsal")]);
    command.args(arguments).current_dir(shop.path()).output().unwrap()
}

#[track_caller]
fn refused(shop: &Shop, arguments: &[&str], why: &str) {
    let ended = soon(shop, arguments);
    let errors = text(&ended.stderr);
    assert!(matches!(ended.status.code(), Some(1 | 2)), "{arguments:?}: {:?}: {errors}", ended.status);
    let last: Vec<&str> = errors.lines().skip_while(|line| !line.starts_with("error: ")).collect();
    assert!(last.iter().skip(1).all(|line| line.starts_with("hint: ")), "{arguments:?}: {errors}");
    assert!(!last.is_empty() && last.join("\n").contains(why), "{arguments:?}: {errors}");
}

fn fifo(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn shop() -> Shop {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    shop.photos("more", &["mules"], 12);
    shop
}

#[test]
fn a_fifo_or_a_device_among_photos_is_no_photo() {
    let shop = shop();
    // The first of its folder: the size of a new model is chosen by looking at it.
    fifo(&shop.path().join("photos/boots/000.png"));
    refused(&shop, &["learn", "shop.model", "photos", "--settings", "small.toml"], "not a regular file");
    assert!(!shop.path().join("shop.model").exists());
    let left_out = soon(&shop, &["learn", "shop.model", "photos", "--settings", "small.toml", "--skip-bad"]);
    assert!(left_out.status.success(), "{}", text(&left_out.stderr));
    refused(&shop, &["predict", "shop.model", "photos/boots/000.png"], "not a regular file");
    refused(&shop, &["predict", "shop.model", "/dev/zero"], "no photo");
    refused(&shop, &["evaluate", "shop.model", "photos"], "not a regular file");
    symlink("/dev/zero", shop.path().join("more/mules/zero.png")).unwrap();
    refused(&shop, &["learn", "shop.model", "more", "--follow-links"], "not a regular file");
}

#[test]
fn settings_without_an_end_are_refused() {
    let shop = shop();
    refused(&shop, &["learn", "shop.model", "photos", "--settings", "/dev/zero"], "bytes");
    refused(&shop, &["run", "/dev/zero"], "bytes");
    refused(&shop, &["grid", "/dev/zero"], "bytes");
}

#[test]
fn a_fifo_or_a_device_in_a_model_is_refused() {
    let shop = shop();
    assert!(shop.learn("photos", &[]).status.success());
    for file in ["model.toml", "history.jsonl", "lock", "versions/0001.safetensors"] {
        let path = shop.path().join("shop.model").join(file);
        let whole = fs::read(&path).unwrap();
        let learn = ["learn", "shop.model", "more", "--settings", "small.toml"];
        fifo(&path);
        refused(&shop, &learn, "regular file");
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        refused(&shop, &learn, "regular file");
        fs::remove_file(&path).unwrap();
        fs::write(&path, whole).unwrap();
    }
    fifo(&shop.path().join("shop.model/learning.safetensors"));
    assert!(soon(&shop, &["learn", "shop.model", "more", "--settings", "small.toml"]).status.success());
}

#[test]
fn a_whole_version_of_another_model_is_not_believed() {
    let shop = shop();
    for (model, seed) in [("shop.model", "0"), ("other.model", "1")] {
        assert!(shop.learn_as(model, "photos", &["--seed", seed]).status.success());
        assert!(shop.learn_as(model, "more", &[]).status.success());
    }
    let file = |model: &str, name: &str| shop.path().join(model).join(name);
    let version = file("shop.model", "versions/0002.safetensors");
    let whole = fs::read(&version).unwrap();
    let why = "not the file that this model wrote as this version";
    for from in [file("other.model", "versions/0002.safetensors"), file("shop.model", "versions/0001.safetensors")] {
        fs::copy(from, &version).unwrap();
        refused(&shop, &["predict", "shop.model", "photos"], why);
        refused(&shop, &["use", "shop.model", "2"], why);
        refused(&shop, &["show", "shop.model"], why);
    }
    fs::write(&version, whole).unwrap();
    fs::copy(file("other.model", "model.toml"), file("shop.model", "model.toml")).unwrap();
    refused(&shop, &["predict", "shop.model", "photos"], why);
}

#[test]
fn a_model_that_has_lost_its_settings_is_not_begun_anew() {
    let shop = shop();
    assert!(shop.learn("photos", &[]).status.success());
    let whole = fs::read(shop.path().join("shop.model/versions/0001.safetensors")).unwrap();
    fs::remove_file(shop.path().join("shop.model/model.toml")).unwrap();
    for command in [&["show", "shop.model"][..], &["learn", "shop.model", "more", "--settings", "small.toml"]] {
        refused(&shop, command, "model.toml is damaged: it is missing, but the versions are there");
    }
    assert_eq!(fs::read(shop.path().join("shop.model/versions/0001.safetensors")).unwrap(), whole);
}

#[test]
fn what_a_killed_process_left_of_a_finished_session_goes() {
    let shop = shop();
    let stopped = ["--checkpoint-every", "0"];
    assert!(shop.learn("photos", &stopped).status.success());
    // As if it had been killed after the version was made: how far it was is still there.
    let learning = shop.path().join("shop.model/learning.safetensors");
    let mut child = crate::program::rehearsal(
        shop.path(),
        &["learn", "shop.model", "more", "--settings", "small.toml", "--checkpoint-every", "0"],
    )
    .spawn()
    .unwrap();
    let mut last = Vec::new();
    while child.try_wait().unwrap().is_none() {
        last = fs::read(&learning).unwrap_or(last);
    }
    assert!(!last.is_empty() && !learning.exists());
    fs::write(&learning, &last).unwrap();
    assert_eq!(shop.show()["interrupted"], false, "its version is made");
    let again = shop.learn("more", &[]);
    assert!(again.status.success() && text(&again.stderr).contains("nothing new to learn"), "{again:?}");
    assert!(!learning.exists());
}

#[test]
fn an_evaluation_overwrites_nothing_but_an_evaluation() {
    let shop = shop();
    assert!(shop.learn("photos", &[]).status.success());
    fs::create_dir_all(shop.path().join("mine/images")).unwrap();
    fs::write(shop.path().join("mine/images/000.png"), "mine").unwrap();
    let evaluate = |place: &'static str| ["evaluate", "shop.model", "photos", "--quiet", "--report", place];
    refused(&shop, &evaluate("mine"), "mine is not empty and holds no evaluation");
    assert_eq!(fs::read(shop.path().join("mine/images/000.png")).unwrap(), b"mine");
    for _ in 0..2 {
        assert!(soon(&shop, &evaluate("eval")).status.success());
    }
    let precious = shop.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let image = shop.path().join("eval/images/000.png");
    let _ = fs::remove_file(&image);
    symlink(&precious, &image).unwrap();
    assert!(soon(&shop, &evaluate("eval")).status.success());
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    fifo(&shop.path().join("eval/index.html"));
    refused(&shop, &evaluate("eval"), "holds no evaluation");
    fs::create_dir(shop.path().join("reported")).unwrap();
    fifo(&shop.path().join("reported/index.html"));
    refused(&shop, &["report", "photos", "--out", "reported"], "");
}

#[test]
fn an_interrupted_export_of_the_memory_does_not_block_the_next() {
    let shop = shop();
    assert!(shop.learn("photos", &[]).status.success());
    let script = format!("ulimit -f 0; exec {} memory shop.model export remembered", env!("CARGO_BIN_EXE_rehearsal"));
    let full = Command::new("sh").arg("-c").arg(script).current_dir(shop.path()).output().unwrap();
    assert_eq!(full.status.code(), Some(1), "{}", text(&full.stderr));
    let again = output(shop.path(), &["memory", "shop.model", "export", "remembered"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(fs::read_dir(shop.path().join("remembered")).unwrap().count(), 2);
    refused(&shop, &["memory", "shop.model", "export", "remembered"], "remembered exists");
}

#[test]
fn packs_are_not_written_through_a_link_beside_the_photos() {
    let shop = shop();
    fs::create_dir(shop.path().join("elsewhere")).unwrap();
    symlink(shop.path().join("elsewhere"), shop.path().join("photos/.rehearsal")).unwrap();
    let home = shop.path().join("home");
    let mut stats =
        crate::program::rehearsal(shop.path(), &["data", "stats", "folder", "--data", "photos", "--size", "16"]);
    let ended = stats.env("REHEARSAL_DATA", &home).output().unwrap();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    assert_eq!(fs::read_dir(shop.path().join("elsewhere")).unwrap().count(), 0);
    assert!(home.join("packs").is_dir());
}
