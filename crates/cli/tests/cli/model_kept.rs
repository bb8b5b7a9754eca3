//! What a model keeps and lets go: versions, classes, images; and what an evaluation says of it.

use std::fs;

use serde_json::Value;

use crate::{
    program::{output, text},
    shop::{Shop, json, lines_fit, refused},
};

#[test]
fn what_was_seen_before_is_said_and_not_counted_twice() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 30);
    assert!(shop.learn("photos", &[]).status.success());
    let version = fs::read(shop.path().join("shop.model/versions/0001.safetensors")).unwrap();
    let again = shop.learn("photos", &[]);
    assert!(again.status.success() && again.stdout.is_empty());
    assert!(text(&again.stderr).contains("nothing new to learn in 60 images: version 1 stays current"), "{again:?}");
    shop.photos("photos", &["mules"], 30);
    let more = json(&shop.learn("photos", &["--json"]));
    assert_eq!((more["seen_before"].as_u64(), more["version"].as_u64()), (Some(60), Some(2)));
    assert_eq!(more["images"].as_u64().unwrap() + more["held_out"].as_u64().unwrap(), 30);
    assert_eq!(fs::read(shop.path().join("shop.model/versions/0001.safetensors")).unwrap(), version);
    // The same photo under another name is the same photo, and on the same side.
    let listed = output(shop.path(), &["memory", "shop.model", "list", "--json"]);
    let holdout: Vec<String> = text(&listed.stdout)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["in"] == "holdout")
        .map(|line| line["source"].as_str().unwrap().to_owned())
        .collect();
    fs::create_dir_all(shop.path().join("only-holdout/boots")).unwrap();
    for (i, path) in holdout.iter().filter(|path| path.contains("boots")).enumerate() {
        fs::copy(shop.path().join(path), shop.path().join(format!("only-holdout/boots/other-{i}.png"))).unwrap();
    }
    let known = shop.learn("only-holdout", &[]);
    assert!(known.status.success() && text(&known.stderr).contains("nothing new to learn"), "{known:?}");
}

#[test]
fn versions_beyond_those_that_are_kept_go_but_never_the_current_one() {
    let shop = Shop::new();
    let classes = ["a", "b", "c", "d", "e", "f"];
    shop.photos("0", &classes[..2], 12);
    assert!(shop.learn("0", &["--keep", "2"]).status.success());
    for (session, class) in classes.iter().enumerate().skip(2) {
        shop.photos(&session.to_string(), &[class], 12);
        assert!(shop.learn(&session.to_string(), &[]).status.success());
        if session == 3 {
            assert!(output(shop.path(), &["use", "shop.model", "2"]).status.success());
        }
    }
    let numbers = |shown: &Value| -> Vec<u64> {
        shown["versions"].as_array().unwrap().iter().map(|version| version["version"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(&shop.show()), [4, 5]);
    let history = shop.show()["history"].as_array().unwrap().len();
    assert_eq!(history, 6, "five sessions and one rollback");
    refused(&shop, &["use", "shop.model", "1"], "version 1 is not kept: choose one of 4, 5");
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
    assert_eq!(listed("boots").len(), 30, "every one of them in memory or holdout");
    let dry = output(shop.path(), &["memory", "shop.model", "remove", "photos/boots/00*", "--dry-run"]);
    assert_eq!(text(&dry.stdout).lines().count(), 10);
    let removed = json(&output(shop.path(), &["memory", "shop.model", "remove", "boots/00*", "--json"]));
    assert_eq!((removed["images"].as_u64(), removed["versions"].as_u64()), (Some(10), Some(2)));
    let left = listed("boots");
    assert!(left.len() == 20 && left.iter().all(|line| !line.contains("boots/00")), "{left:?}");
    assert!(output(shop.path(), &["use", "shop.model", "1"]).status.success());
    assert_eq!(listed("boots"), left, "in version 1, too");
    refused(&shop, &["memory", "shop.model", "remove", "boots/00*"], "no photo matches `boots/00*`");
    refused(&shop, &["memory", "shop.model", "remove", "--class", "wellingtons"], "there is no class `wellingtons`");
    let class = output(shop.path(), &["memory", "shop.model", "remove", "--class", "clogs"]);
    let said = text(&class.stdout);
    assert!(said.starts_with("30 images removed from memory and holdout set in 2 versions\nclogs  "), "{said}");
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
fn what_must_go_is_gone_whatever_a_version_calls_it() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs", "mules"], 20);
    assert!(shop.learn("photos", &[]).status.success());
    assert!(output(shop.path(), &["class", "shop.model", "rename", "boots", "wellingtons"]).status.success());
    let retired = output(shop.path(), &["class", "shop.model", "retire", "clogs"]);
    let said = text(&retired.stderr);
    assert!(
        said.ends_with("older versions keep them until\n  rehearsal memory shop.model remove --class clogs\n"),
        "{said}"
    );
    // Only older versions have them: so it is said before, and so it is done.
    for (class, before) in [("clogs", "clogs"), ("wellingtons", "boots")] {
        let remove = ["memory", "shop.model", "remove", "--class", class];
        let dry = output(shop.path(), &[&remove[..], &["--dry-run"]].concat());
        let lines: Vec<&str> = text(&dry.stdout).lines().collect();
        assert_eq!(lines.len(), 20, "{dry:?}");
        assert!(
            lines.is_sorted() && lines[0].starts_with(&format!("{class}  photos/{before}/000.png  version")),
            "{lines:?}"
        );
        let removed = json(&output(shop.path(), &[&remove[..], &["--json"]].concat()));
        assert_eq!(removed["images"].as_u64(), Some(20), "{class}");
        assert_eq!(output(shop.path(), &remove).status.code(), Some(2), "none is left");
    }
    assert!(output(shop.path(), &["use", "shop.model", "1"]).status.success());
    for class in ["boots", "clogs"] {
        assert!(output(shop.path(), &["memory", "shop.model", "list", "--class", class]).stdout.is_empty(), "{class}");
    }
    assert_eq!(
        json(&output(shop.path(), &["show", "shop.model", "--json"]))["threshold"],
        Value::Null,
        "4 holdout images"
    );
}

#[test]
fn statistics_of_training_stay_where_they_were_asked_for() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 40);
    assert!(shop.learn("photos", &["--no-recalibration"]).status.success());
    let answers = || output(shop.path(), &["predict", "shop.model", "photos", "--json"]).stdout;
    let before = answers();
    assert!(output(shop.path(), &["memory", "shop.model", "remove", "boots/00*"]).status.success());
    assert_eq!(answers(), before, "without images the weights are the same");
}

#[test]
fn a_long_name_makes_no_long_line() {
    let shop = Shop::new();
    let long = "bags/leather/very brown, with a buckle of brass and a strap that is too long/small";
    shop.photos("photos", &[long, "boots"], 20);
    assert!(shop.learn("photos", &["--nested"]).status.success());
    for arguments in [&["show", "shop.model"][..], &["evaluate", "shop.model", "photos"]] {
        let shown = output(shop.path(), arguments);
        let said = text(&shown.stdout);
        assert!(said.contains("/small ") && lines_fit(said, 64), "{said}");
    }
}

#[test]
fn what_is_written_is_said_as_json() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs"], 12);
    assert!(shop.learn("photos", &[]).status.success());
    let run = |arguments: &[&str]| json(&output(shop.path(), &[arguments, &["--json"]].concat()));
    let exported = run(&["export", "shop.model", "--onnx", "shop.onnx"]);
    assert_eq!((exported["onnx"].as_str(), &exported["safetensors"]), (Some("shop.onnx"), &Value::Null));
    assert_eq!(run(&["memory", "shop.model", "sheet", "-o", "all.png"])["sheet"], "all.png");
    let remembered = run(&["memory", "shop.model", "export", "out"]);
    assert_eq!((&remembered["directory"], &remembered["images"]), (&"out".into(), &shop.show()["memory"]["images"]));
}

#[test]
fn classes_are_renamed_and_retired_and_one_can_go_back() {
    let shop = Shop::new();
    shop.photos("photos", &["boots", "clogs", "mules"], 20);
    assert!(shop.learn("photos", &[]).status.success());
    let renamed = output(shop.path(), &["class", "shop.model", "rename", "boots", "wellingtons"]);
    assert_eq!(text(&renamed.stdout), "version 2: boots is now wellingtons\n");
    let retired = output(shop.path(), &["class", "shop.model", "retire", "clogs"]);
    assert!(text(&retired.stdout).starts_with("version 3: clogs is retired"), "{retired:?}");
    let names = |shown: &Value| -> Vec<String> {
        shown["classes"].as_array().unwrap().iter().map(|class| class["class"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&shop.show()), ["wellingtons", "mules"]);
    let answers = output(shop.path(), &["predict", "shop.model", "photos", "--json"]);
    assert!(answers.status.success() && !text(&answers.stdout).contains("\"class\":\"clogs\""));
    refused(&shop, &["class", "shop.model", "retire", "mules"], "only one class is left");
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
    assert!(text(&evaluated.stderr).contains("not known to the model and left out: unheard-of\n"));
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
    assert!(
        page.contains("<p>shop.model, version 1, on the photos in held-out.")
            && page.contains("title=\"boots\">boots<td")
    );
    assert!(page.contains(" % right, ") && !page.contains("http:") && !page.contains("https:"), "it needs no network");
}
