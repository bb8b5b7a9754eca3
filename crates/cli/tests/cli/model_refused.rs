//! What a model makes of bad input: one line, exit code 2, nothing changed.

use std::fs;

use crate::{
    program::{output, text},
    shop::{Shop, refused},
};

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence_and_nothing_changes() {
    let shop = Shop::new();
    fs::create_dir_all(shop.path().join("empty/boots")).unwrap();
    shop.photos("one", &["boots"], 10);
    shop.photos("photos", &["boots", "clogs"], 12);
    let learn = |folder: &'static str, more: &[&'static str]| -> Vec<&'static str> {
        [&["learn", "shop.model", folder, "--settings", "small.toml"], more].concat()
    };
    refused(&shop, &learn("missing", &[]), "there is no folder missing");
    refused(&shop, &learn("small.toml", &[]), "expected a folder that holds one folder of photos per class");
    refused(&shop, &learn("photos", &["--epochs", "0"]), "`--epochs` is 0, not between 1 and");
    refused(&shop, &["learn", "photos", "shop.model"], "photos is not a model of Rehearsal: the model comes first");
    refused(&shop, &learn("empty", &[]), "no photos found");
    refused(&shop, &learn("one", &[]), "only one class found (boots)");
    refused(&shop, &learn("photos", &["--memory", "1"]), "a memory of 1 image is too small for 2 classes");
    for verb in [&["show", "shop.model"][..], &["predict", "shop.model", "photos"], &["use", "shop.model", "1"]] {
        refused(&shop, verb, "there is no model shop.model\nhint: `rehearsal learn shop.model FOLDER` makes one");
    }
    refused(&shop, &["show", "photos"], "photos is not a model of Rehearsal");
    refused(&shop, &["learn", "photos", "photos"], "photos is not a model of Rehearsal");
    refused(&shop, &["learn", "small.toml", "photos"], "small.toml is not a model of Rehearsal");
    assert!(output(shop.path(), &learn("photos", &["--memory", "4"])).status.success());
    refused(&shop, &learn("photos", &["--width", "7"]), "`--width` is 6 in this model and cannot become 7");
    refused(&shop, &learn("photos", &["--size", "32"]), "`--size` is 24 in this model and cannot become 32");
    shop.photos("three", &["d", "e", "f"], 8);
    refused(&shop, &learn("three", &[]), "a memory of 4 images is too small for 5 classes");
    refused(&shop, &["predict", "shop.model", "small.toml"], "no photos found");
    refused(&shop, &["predict", "photos", "shop.model"], "photos is not a model of Rehearsal: the model comes first");
    refused(&shop, &["evaluate", "photos", "shop.model"], "the model comes first");
    refused(&shop, &["predict", "shop.model", "photos", "--version", "9"], "version 9 is not kept: choose one of 1");
    refused(&shop, &["evaluate", "shop.model", "three"], "no photo of a class that the model knows");
}

#[test]
fn a_photo_that_cannot_be_read_is_named_and_may_be_left_out() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    fs::write(shop.path().join("photos/boots/broken.jpg"), b"\xff\xd8\xff\xe0 no more").unwrap();
    refused(&shop, &["learn", "shop.model", "photos", "--settings", "small.toml"], "broken.jpg");
    fs::write(shop.path().join("photos/clogs/empty.png"), b"").unwrap();
    let both = shop.learn("photos", &[]);
    let said = text(&both.stderr);
    assert_eq!(both.status.code(), Some(2));
    for part in ["photos/boots/broken.jpg: ", "photos/clogs/empty.png: it is empty\n", "error: 2 photos cannot be read"]
    {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    fs::remove_file(shop.path().join("photos/clogs/empty.png")).unwrap();
    let left_out = shop.learn("photos", &["--skip-bad"]);
    assert!(left_out.status.success(), "{}", text(&left_out.stderr));
    assert!(text(&left_out.stderr).contains("left out: photos/boots/broken.jpg: "), "{left_out:?}");
    refused(&shop, &["predict", "shop.model", "photos/boots/broken.jpg"], "broken.jpg");
    let goes_on = output(shop.path(), &["predict", "shop.model", "photos/boots", "--skip-bad"]);
    assert_eq!(text(&goes_on.stdout).lines().count(), 12);
    assert!(text(&goes_on.stderr).contains("broken.jpg"));
}

#[test]
#[cfg(unix)]
fn a_link_out_of_a_folder_is_followed_by_the_flag_that_the_refusal_names() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    assert!(shop.learn("photos", &[]).status.success());
    fs::create_dir(shop.path().join("new")).unwrap();
    std::os::unix::fs::symlink(shop.path().join("photos/boots"), shop.path().join("new/boots")).unwrap();
    refused(&shop, &["predict", "shop.model", "new"], "`--follow-links` follows it");
    let followed = output(shop.path(), &["predict", "shop.model", "new", "--follow-links"]);
    assert_eq!(text(&followed.stdout).lines().count(), 12, "{followed:?}");
}

#[test]
fn where_the_version_that_is_used_is_damaged_another_is_offered() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    assert!(shop.learn("photos", &[]).status.success());
    assert!(output(shop.path(), &["class", "shop.model", "rename", "boots", "wellingtons"]).status.success());
    let path = shop.path().join("shop.model/versions/0002.safetensors");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    refused(&shop, &["predict", "shop.model", "photos"], "hint: `rehearsal use shop.model 1` uses version 1 instead");
    assert!(output(shop.path(), &["use", "shop.model", "1"]).status.success());
    assert!(output(shop.path(), &["predict", "shop.model", "photos"]).status.success());
}

#[test]
fn a_damaged_model_is_refused_and_nothing_changes() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    shop.photos("more", &["mules"], 12);
    assert!(shop.learn("photos", &[]).status.success());
    let files = ["model.toml", "history.jsonl", "versions/0001.safetensors"];
    for file in files {
        let (path, name) = (shop.path().join("shop.model").join(file), file.rsplit('/').next().unwrap());
        let whole = fs::read(&path).unwrap();
        for place in (0..whole.len()).step_by(whole.len() / 25) {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << (place % 8);
            fs::write(&path, &damaged).unwrap();
            refused(&shop, &["show", "shop.model"], name);
        }
        // It is refused wherever it is needed.
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        refused(&shop, &["show", "shop.model"], name);
        refused(&shop, &["learn", "shop.model", "more", "--settings", "small.toml"], name);
        for verb in [["predict", "shop.model", "photos"], ["evaluate", "shop.model", "photos"]] {
            if file != "history.jsonl" {
                refused(&shop, &verb, name);
            }
        }
        for verb in [&["class", "shop.model", "retire", "boots"][..], &["memory", "shop.model", "remove", "*"]] {
            refused(&shop, verb, name);
        }
        fs::write(&path, &whole).unwrap();
    }
    fs::remove_file(shop.path().join("shop.model/versions/0001.safetensors")).unwrap();
    refused(&shop, &["show", "shop.model"], "0001.safetensors cannot be read");
    fs::write(shop.path().join("shop.model/model.toml"), "format = 9\n").unwrap();
    refused(&shop, &["show", "shop.model"], "model.toml has format 9; this program reads format 3");
}

/// `only-holdout` holds photos that were never seen, and all of which are held out.
#[test]
fn a_class_whose_new_photos_are_all_for_the_holdout_changes_nothing() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 90);
    assert!(shop.learn_as("all.model", "photos", &[]).status.success());
    let listed = output(shop.path(), &["memory", "all.model", "list", "--class", "boots", "--json"]);
    fs::create_dir_all(shop.path().join("only-holdout/boots")).unwrap();
    let mut moved = 0;
    for line in text(&listed.stdout).lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        if line["in"] == "holdout" && moved < 3 {
            let from = shop.path().join(line["source"].as_str().unwrap());
            fs::rename(from, shop.path().join(format!("only-holdout/boots/{moved}.png"))).unwrap();
            moved += 1;
        }
    }
    assert!(moved > 1, "some of ninety photos are held out");
    assert!(shop.learn("photos", &[]).status.success());
    let before = shop.contents();
    let session = shop.learn("only-holdout", &[]);
    let said = text(&session.stderr);
    assert!(session.status.success() && session.stdout.is_empty(), "{said}");
    assert!(said.contains(&format!("{moved} images new, but all of them held out")), "{said}");
    assert!(said.contains(&format!("nothing new to learn in {moved} images: version 1 stays current")), "{said}");
    assert_eq!(shop.contents(), before);
}

#[test]
fn of_few_photos_of_a_class_most_are_learned() {
    let shop = Shop::new();
    for (class, count) in [("one", 1), ("four", 4), ("five", 5), ("twelve", 12)] {
        shop.photos("photos", &[class], count);
    }
    let session = shop.learn("photos", &[]);
    assert!(text(&session.stderr).contains("add more: four (4), one (1)\n"), "{session:?}");
    let shown = shop.show();
    let count = |class: &str, what: &str| {
        let class = shown["classes"].as_array().unwrap().iter().find(|known| known["class"] == class).unwrap();
        if what == "holdout" { class["holdout"]["total"].as_u64() } else { class[what].as_u64() }
    };
    assert_eq!(["one", "four", "five"].map(|class| count(class, "learned")), [Some(1), Some(4), Some(4)]);
    assert_eq!(["one", "four", "five"].map(|class| count(class, "holdout")), [Some(0), Some(0), Some(1)]);
    assert!(matches!(count("twelve", "holdout"), Some(1 | 2)), "{shown}");
}
