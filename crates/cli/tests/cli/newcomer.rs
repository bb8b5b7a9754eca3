//! What hurt people who used a model for the first time.

use std::{fs, process::Output};

use crate::{
    program::{output, text},
    shop::{Shop, json, refused},
};

#[track_caller]
fn run(shop: &Shop, arguments: &[&str]) -> Output {
    let output = output(shop.path(), arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    output
}

/// Exit code 2, and what it says of an argument.
#[track_caller]
fn misread(shop: &Shop, arguments: &[&str], part: &str) {
    let output = output(shop.path(), arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(text(&output.stderr).contains(part), "{part:?} in {}", text(&output.stderr));
}

fn version(shop: &Shop, model: &str, number: u32) -> Vec<u8> {
    fs::read(shop.path().join(format!("{model}/versions/{number:04}.safetensors"))).unwrap()
}

/// Two classes of clothes in `january`.
fn clothes() -> Shop {
    let shop = Shop::new();
    ["sandal", "bag"].iter().for_each(|class| shop.clothes("january", class, 0, 12));
    shop
}

/// Photos of sandals in `folder/class`.
fn sandals(shop: &Shop, folder: &str, class: &str, first: usize, count: usize) {
    shop.clothes(folder, "sandal", first, count);
    fs::rename(shop.path().join(folder).join("sandal"), shop.path().join(folder).join(class)).unwrap();
}

#[test]
fn a_version_that_lost_more_than_chance_explains_is_rejected_unless_that_is_accepted() {
    let shop = Shop::new();
    let classes = ["sandal", "bag", "dress"];
    // The new classes look as the old ones do: half of the old answers change.
    for class in classes {
        shop.clothes("march", class, 100, 80);
        fs::rename(shop.path().join("march").join(class), shop.path().join("march").join(format!("new {class}")))
            .unwrap();
        shop.clothes("january", class, 0, 80);
    }
    run(&shop, &["learn", "shop.model", "january"]);
    let rejected = output(shop.path(), &["learn", "shop.model", "march"]);
    let said = text(&rejected.stdout);
    assert_eq!(rejected.status.code(), Some(3), "{said}");
    for part in [
        "version 2 rejected, version 1 stays current:\n",
        "(beyond chance, p ",
        "  they lost more than chance explains\n",
        "  to use it anyway: rehearsal use shop.model 2\n",
        "  to accept what is lost: the same with --accept\n",
        "  to see why: rehearsal evaluate shop.model DIR --version 2\n",
    ] {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    assert_eq!(shop.show()["current"], 1);
    let quiet = output(shop.path(), &["learn", "shop.model", "march", "--quiet"]);
    assert_eq!((quiet.status.code(), quiet.stdout.len()), (Some(3), 0));
    assert!(text(&quiet.stderr).contains("rejected, version 1 stays current"), "{}", text(&quiet.stderr));
    misread(&shop, &["learn", "shop.model", "march", "--accept", "--max-forgetting", "3%"], "cannot be used with");
    let accepted = json(&run(&shop, &["learn", "shop.model", "march", "--accept", "--json", "--quiet"]));
    assert_eq!((&accepted["accepted"], &shop.show()["current"]), (&true.into(), &accepted["version"]));
    // A limit that is given is the only check.
    run(&shop, &["use", "shop.model", "1"]);
    let limited = run(&shop, &["learn", "shop.model", "march", "--max-forgetting", "100%"]);
    assert!(!text(&limited.stderr).contains("warning"), "{}", text(&limited.stderr));
    run(&shop, &["use", "shop.model", "1"]);
    let coarse = output(shop.path(), &["learn", "shop.model", "march", "--max-forgetting", "0.01"]);
    assert_eq!(coarse.status.code(), Some(3));
    assert!(text(&coarse.stdout).contains("  they lost more than 1%\n"), "{}", text(&coarse.stdout));
    assert!(text(&coarse.stderr).contains("so one photo is "), "{}", text(&coarse.stderr));
}

#[test]
fn photos_that_come_again_as_another_class_are_named_and_moved_as_if_they_had_always_been_there() {
    let shop = clothes();
    sandals(&shop, "wrong", "bag", 50, 6);
    sandals(&shop, "right", "sandal", 50, 6);
    run(&shop, &["learn", "a.model", "january"]);
    run(&shop, &["learn", "a.model", "wrong"]);
    let riddle = "6 photos are known as another class: 6 as `bag`, here `sandal`\nhint: `--relabel` moves them";
    refused(&shop, &["learn", "a.model", "right"], riddle);
    let relabelled = run(&shop, &["learn", "a.model", "right", "--relabel"]);
    assert!(text(&relabelled.stderr).contains("6 photos moved from `bag` to `sandal`\n"), "{relabelled:?}");
    run(&shop, &["learn", "b.model", "january", "right"]);
    assert!(version(&shop, "a.model", 3) == version(&shop, "b.model", 1), "as if they had been sandals from the start");
    assert!(text(&run(&shop, &["learn", "a.model", "right"]).stderr).contains("nothing new to learn"));

    // Beside new photos, those that are known keep their class, with the hint.
    shop.clothes("wrong", "dress", 0, 8);
    let beside = run(&shop, &["learn", "b.model", "wrong"]);
    let said = text(&beside.stderr);
    assert!(said.contains("6 as `sandal`, here `bag`\nhint: `--relabel` moves them"), "{said}");
    // Of a class of which nothing is left, nothing is left.
    sandals(&shop, "dresses", "bag", 50, 6);
    fs::rename(shop.path().join("january/sandal"), shop.path().join("dresses/dress")).unwrap();
    let report = json(&run(&shop, &["learn", "b.model", "dresses", "--relabel", "--accept", "--json", "--quiet"]));
    assert_eq!(report["relabelled"].as_array().unwrap().len(), 2, "{report}");
    let names = json(&run(&shop, &["show", "b.model", "--json"]))["classes"].clone();
    assert_eq!(names.as_array().unwrap().len(), 2, "no sandal is left: {names}");
}

#[test]
fn photos_are_not_moved_if_only_one_class_would_be_left() {
    let shop = clothes();
    run(&shop, &["learn", "a.model", "january"]);
    fs::create_dir(shop.path().join("all")).unwrap();
    fs::rename(shop.path().join("january/bag"), shop.path().join("all/sandal")).unwrap();
    refused(&shop, &["learn", "a.model", "all", "--relabel"], "without `bag` only one class is left");
}

#[test]
fn a_holdout_photo_that_was_given_is_moved_too() {
    let shop = clothes();
    shop.clothes("check", "sandal", 60, 3);
    shop.clothes("check", "bag", 60, 3);
    run(&shop, &["learn", "a.model", "january", "--holdout", "check"]);
    let checked = |from: &str, to: &str| {
        fs::create_dir_all(shop.path().join(to)).unwrap();
        fs::rename(shop.path().join(from), shop.path().join(to).join("from-bag.png")).unwrap();
    };
    checked("check/bag/060.png", "other/sandal");
    let stays = "1 photo is known as another class: 1 as `bag`, here `sandal`";
    refused(&shop, &["learn", "a.model", "january", "--holdout", "other"], stays);
    run(&shop, &["learn", "a.model", "january", "--holdout", "other", "--relabel", "--accept"]);
    checked("other/sandal/from-bag.png", "check/sandal");
    run(&shop, &["learn", "b.model", "january", "--holdout", "check"]);
    let measured = |model: &str, number: usize| {
        let shown = json(&run(&shop, &["show", model, "--json"]));
        (shown["classes"].clone(), shown["versions"][number]["holdout"].clone())
    };
    assert_eq!(measured("a.model", 1), measured("b.model", 0));
}

#[test]
fn photos_of_another_class_cannot_be_moved_in_a_network_that_was_trained() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    assert!(shop.learn("photos", &[]).status.success());
    fs::create_dir(shop.path().join("again")).unwrap();
    fs::rename(shop.path().join("photos/boots"), shop.path().join("again/clogs")).unwrap();
    let again = ["learn", "shop.model", "again", "--settings", "small.toml"];
    refused(
        &shop,
        &again,
        "12 photos are known as another class: 12 as `boots`, here `clogs`\nhint: a model that is trained",
    );
    refused(&shop, &[&again[..], &["--relabel"]].concat(), "cannot move them");
}

#[test]
fn two_spellings_of_a_class_are_refused_unless_they_are_taken_as_they_are() {
    let shop = clothes();
    sandals(&shop, "more", "sandals", 50, 6);
    run(&shop, &["learn", "a.model", "january"]);
    for more in [&["learn", "a.model", "more"][..], &["learn", "new.model", "january", "more"]] {
        refused(
            &shop,
            more,
            "`sandal` and `sandals` differ only in capitals, spaces or a plural\nhint: rename the folder",
        );
    }
    refused(
        &shop,
        &["learn", "s.model", "january", "more", "--settings", "small.toml", "--backbone", "scratch"],
        "`--as-is`",
    );
    run(&shop, &["learn", "a.model", "more", "--as-is"]);
    let merged = run(&shop, &["class", "a.model", "merge", "sandals", "sandal"]);
    assert_eq!(text(&merged.stdout), "version 3: sandals is merged into sandal\n");
    refused(&shop, &["class", "a.model", "rename", "bag", "sandal"], "hint: `rehearsal class MODEL merge`");
    sandals(&shop, "odd", "sandal ", 70, 6);
    run(&shop, &["learn", "a.model", "odd", "--as-is"]);
    assert!(text(&run(&shop, &["show", "a.model"]).stdout).contains("'sandal ' "));
}

#[test]
fn a_removal_says_before_and_after_what_it_touches() {
    let shop = clothes();
    shop.clothes("more", "dress", 0, 8);
    run(&shop, &["learn", "a.model", "january"]);
    run(&shop, &["learn", "a.model", "more"]);
    run(&shop, &["class", "a.model", "rename", "bag", "tote"]);
    let remove = ["memory", "a.model", "remove", "january/bag/00*"];
    let before = run(&shop, &[&remove[..], &["--dry-run"]].concat());
    let rows = text(&before.stdout).to_owned();
    assert_eq!(rows.lines().next(), Some("tote  january/bag/000.png  versions 1, 2, 3"));
    assert_eq!(rows.lines().count(), 10);
    let dry = run(&shop, &[&remove[..], &["--dry-run", "--json"]].concat());
    let first: serde_json::Value = serde_json::from_str(text(&dry.stdout).lines().next().unwrap()).unwrap();
    assert_eq!(first, serde_json::json!({ "class": "tote", "source": "january/bag/000.png", "versions": [1, 2, 3] }));
    let after = run(&shop, &remove);
    assert_eq!(text(&after.stdout), format!("10 images removed from memory and holdout set in 3 versions\n{rows}"));
    assert!(!text(&after.stderr).contains("weights"), "a Gaussian head has none: {}", text(&after.stderr));
    let one = json(&run(&shop, &["memory", "a.model", "remove", "more/dress/003.png", "--json"]));
    let dress = serde_json::json!([{ "class": "dress", "source": "more/dress/003.png", "versions": [2, 3] }]);
    assert_eq!((&one["removed"], &one["images"]), (&dress, &1.into()));
}

#[test]
fn what_is_remembered_can_be_learned_again() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 30);
    assert!(shop.learn("photos", &["--epochs", "1"]).status.success());
    let weak = shop.learn("photos", &["--epochs", "9"]);
    assert!(weak.status.success());
    let hint =
        "nothing new to learn in 60 images: version 1 stays current\nhint: `rehearsal learn shop.model --again` ";
    assert!(text(&weak.stderr).contains(hint), "{}", text(&weak.stderr));
    let held = || output(shop.path(), &["memory", "shop.model", "list"]).stdout;
    let before = held();
    let again = ["learn", "shop.model", "--again", "--epochs", "9", "--settings", "small.toml", "--accept"];
    let report = json(&run(&shop, &[&again[..], &["--json", "--quiet"]].concat()));
    assert_eq!((&report["version"], &report["epochs"]), (&2.into(), &9.into()));
    assert_eq!(held(), before, "nothing is remembered twice");
    let memory = &shop.show()["memory"]["images"];
    assert_eq!((&report["images"], &report["memory"]), (memory, memory));

    let exact = clothes();
    run(&exact, &["learn", "a.model", "january"]);
    let known = run(&exact, &["learn", "a.model", "january"]);
    let said = text(&known.stderr);
    assert!(said.contains("the head has learned them exactly: to learn them again would change nothing"), "{said}");
    refused(&exact, &["learn", "a.model", "--again"], "has learned its photos exactly");
    misread(&exact, &["learn", "a.model", "january", "--again"], "cannot be used with");
    refused(&exact, &["learn", "none.model", "--again"], "`--again` is for a model that has learned");
}

#[test]
fn a_share_is_a_fraction_or_has_its_sign() {
    let shop = clothes();
    run(&shop, &["learn", "a.model", "january"]);
    let sure = |threshold: &str| {
        text(&run(&shop, &["predict", "a.model", "january", "--threshold", threshold, "--json"]).stdout).to_owned()
    };
    assert_eq!(sure("0.9"), sure("90%"));
    assert!(sure("0").contains("\"answer\":\"sure\""));
    for (value, part) in [("90", "write 90%, or 0.9 as a fraction"), ("101", "between 0 and 1"), ("high", "percentage")]
    {
        misread(&shop, &["predict", "a.model", "january", "--threshold", value], part);
    }
    for (value, part) in [("3", "write 3%, or 0.03 as a fraction"), ("1", "write 1%"), ("-3", "between 0 and 1")] {
        misread(&shop, &["learn", "a.model", "january", "--max-forgetting", value], part);
    }
}

#[test]
fn a_folder_of_sessions_is_refused_with_the_command_that_was_meant() {
    let shop = clothes();
    fs::create_dir(shop.path().join("photos")).unwrap();
    fs::rename(shop.path().join("january"), shop.path().join("photos/january")).unwrap();
    shop.clothes("photos/february", "dress", 0, 8);
    let meant = "give the folders that hold classes: `rehearsal learn shop.model photos/february photos/january`";
    refused(&shop, &["learn", "shop.model", "photos"], meant);
    refused(&shop, &["learn", "shop.model", "photos", "--backbone", "scratch"], meant);
    run(&shop, &["learn", "meant.model", "photos/february", "photos/january"]);
    run(&shop, &["learn", "shop.model", "photos", "--nested"]);
    let shown = shop.show();
    assert_eq!(shown["classes"][0]["class"], "february/dress", "{shown}");
    // A class beside them: these are no sessions.
    shop.clothes("photos", "sneaker", 0, 6);
    refused(&shop, &["learn", "new.model", "photos"], "hint: `--nested` takes folders inside folders as classes");
}

#[test]
fn every_verb_takes_threads_and_the_model_may_come_after_the_verb() {
    let shop = clothes();
    shop.clothes("january", "dress", 0, 4);
    let learned = run(&shop, &["learn", "a.model", "january"]);
    let few = "fewer than 5 photos, none of them held out to measure the class, add more: dress (4)\n";
    assert!(text(&learned.stderr).contains(few), "{}", text(&learned.stderr));
    for verb in [&["predict", "a.model", "january", "--json"][..], &["evaluate", "a.model", "january", "--json"]] {
        let on = |threads: &str| run(&shop, &[verb, &["--threads", threads]].concat()).stdout;
        assert_eq!(on("1"), on("3"), "{verb:?}");
        misread(&shop, &[verb, &["--threads", "0"]].concat(), "1..=1024");
    }
    run(&shop, &["features", "january", "-o", "f.npy", "--threads", "1"]);
    run(&shop, &["memory", "a.model", "remove", "january/bag/000.png", "--threads", "1"]);
    run(&shop, &["class", "--threads", "1", "a.model", "rename", "bag", "tote"]);
    for sheet in [["memory", "sheet", "a.model"], ["memory", "a.model", "sheet"]] {
        run(&shop, &[&sheet[..], &["-o", "sheet.png"]].concat());
    }
    run(&shop, &["class", "merge", "a.model", "dress", "tote"]);
    shop.clothes("more", "dress", 20, 1);
    shop.clothes("more", "sandal", 20, 1);
    let more = run(&shop, &["learn", "a.model", "more"]);
    assert!(text(&more.stderr).contains("add more: dress (1)\n"), "a known class with many is none of them");
}

#[test]
fn methods_that_train_no_network_in_sessions_are_refused() {
    let shop = clothes();
    for (method, part) in
        [("joint", "all classes at once"), ("gaussian", "trains no network"), ("ridge", "pre-trained")]
    {
        misread(&shop, &["learn", "m", "january", "--backbone", "scratch", "--method", method], part);
    }
    assert!(!shop.path().join("m").exists(), "nothing was made");
}
