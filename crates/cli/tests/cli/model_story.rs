//! The story of a model as the README tells it, by the real binary: every line that carries a number
//! is computed again from what the verbs say as JSON.

use std::{fs, process::Output};

use serde_json::Value;

use crate::{
    program::{output, text},
    shop::{Shop, json, lines_fit},
    told::{self, cells, number},
};

fn run(shop: &Shop, arguments: &[&str]) -> String {
    let output = output(shop.path(), arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

/// Lines of JSON.
fn lines(shop: &Shop, arguments: &[&str]) -> Vec<Value> {
    run(shop, arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Learns a folder; the same in another model gives the same numbers as JSON. What it printed must be what those say.
fn learn(shop: &Shop, folder: &str, more: &[&str]) -> (Output, Value) {
    let learned = shop.learn(folder, more);
    let twin = shop.learn_as("twin.model", folder, &[more, &["--json", "--quiet"]].concat());
    assert_eq!(twin.status.code(), learned.status.code(), "{}", text(&twin.stderr));
    assert!(twin.stderr.is_empty(), "{}", text(&twin.stderr));
    let report: Value = serde_json::from_slice(&twin.stdout).unwrap();
    let said = text(&learned.stdout);
    assert_eq!(said, told::session(&report), "{report}");
    assert!(lines_fit(said, 60), "{said}");
    // The scores of the classes are those of the whole.
    let sum =
        |what: &str| -> u64 { report["by_class"].as_array().unwrap().iter().map(|class| number(&class[what])).sum() };
    assert_eq!(
        (sum("right"), sum("total")),
        (number(&report["holdout"]["right"]), number(&report["holdout"]["total"]))
    );
    let file = format!("shop.model/versions/{:04}.safetensors", number(&report["version"]));
    assert_eq!(fs::metadata(shop.path().join(file)).unwrap().len(), number(&report["bytes"]));
    (learned, report)
}

fn show_says_what_json_says(shop: &Shop) -> Value {
    let (shown, printed) = (shop.show(), run(shop, &["show", "shop.model"]));
    assert!(lines_fit(&printed, 72), "{printed}");
    let printed: Vec<Vec<String>> = printed.lines().map(cells).filter(|cells| !cells.is_empty()).collect();
    assert_eq!(printed, told::show(&shown));
    shown
}

#[test]
fn the_story_of_a_model() {
    let shop = Shop::new();
    let first = ["boots", "sandals", "sneakers"];
    let all = ["boots", "sandals", "sneakers", "clogs", "loafers"];

    // $ rehearsal learn shop.model photos/january
    shop.photos("photos/january", &first, 60);
    fs::write(shop.path().join("photos/january/notes.txt"), "notes").unwrap();
    fs::write(shop.path().join("photos/january/boots/IMG_0231.HEIC"), "\0\0\0\x18ftypheic").unwrap();
    let (january, report) = learn(&shop, "photos/january", &[]);
    let said = text(&january.stderr);
    for part in [
        "2 files are ignored:\n",
        "  notes.txt: not an image\n",
        "  boots/IMG_0231.HEIC: HEIC is not read, convert it to JPEG\n",
        "read 180 images of 3 classes, 24×24\n",
    ] {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    let (images, held_out) = (number(&report["images"]), number(&report["held_out"]));
    assert_eq!((images + held_out, number(&report["classes"]), number(&report["memory"])), (180, 3, images));
    assert!((9..30).contains(&held_out), "one in ten: {held_out}");
    assert_eq!(number(&report["holdout"]["total"]), held_out);
    assert!(number(&report["holdout"]["right"]) * 10 > held_out * 6, "three colours can be told apart: {report}");

    // $ rehearsal learn shop.model photos/february
    shop.photos("photos/february", &["clogs", "loafers"], 40);
    shop.photos_from("photos/february", "sneakers", 100, 20);
    let (february, report) = learn(&shop, "photos/february", &[]);
    assert!(text(&february.stderr).contains("read 100 images of 3 classes, 24×24\n"));
    assert_eq!((number(&report["version"]), number(&report["classes"])), (2, 5));
    assert_eq!(report["new_classes"], serde_json::json!(["clogs", "loafers"]));

    // $ rehearsal predict shop.model new/*.jpg
    all.iter().for_each(|class| shop.photos_from("new", class, 200, 4));
    let (printed, answers) =
        (run(&shop, &["predict", "shop.model", "new"]), lines(&shop, &["predict", "shop.model", "new", "--json"]));
    assert_eq!((printed.lines().count(), answers.len()), (20, 20));
    let threshold = shop.show()["threshold"].as_f64();
    for (line, answer) in printed.lines().zip(&answers) {
        assert_eq!(cells(line), told::answer(answer));
        let probability = answer["probability"].as_f64().unwrap();
        let others = answer["others"].as_array().unwrap().iter().map(|other| other["probability"].as_f64().unwrap());
        assert!((probability + others.sum::<f64>() - 1.0).abs() < 1e-5, "{answer}");
        assert_eq!(answer["unsure"], threshold.is_none_or(|threshold| probability < threshold));
        assert_eq!(answer["answer"], if answer["unsure"] == true { "unsure" } else { "sure" });
        assert_eq!(answer["reason"].is_string(), threshold.is_none(), "{answer}");
    }

    // $ rehearsal learn shop.model photos/march --max-forgetting 3%. Its classes look as the old ones do: half of those is lost.
    for class in all {
        shop.photos_like("photos/march", &format!("new {class}"), class, 300, 24);
    }
    let (march, report) = learn(&shop, "photos/march", &["--max-forgetting", "3%"]);
    assert_eq!((march.status.code(), number(&report["version"])), (Some(3), 3));
    let share = |score: &Value| 100.0 * number(&score["right"]) as f64 / number(&score["total"]) as f64;
    assert!(share(&report["old"]["before"]) - share(&report["old"]["after"]) > 3.0, "{report}");
    assert_eq!(run(&shop, &["predict", "shop.model", "new"]), printed, "version 2 is used");

    // $ rehearsal show shop.model, $ rehearsal use shop.model 2
    let shown = show_says_what_json_says(&shop);
    assert_eq!((number(&shown["current"]), shown["versions"].as_array().unwrap().len()), (2, 3));
    assert!(run(&shop, &["use", "shop.model", "3"]).starts_with("version 3: 10 classes, holdout "));
    let reports: Vec<Value> = shown["versions"].as_array().unwrap().clone();
    assert_eq!(run(&shop, &["use", "shop.model", "2"]), told::version_line(&reports[1]));

    evaluated(&shop, &all);
    remembered(&shop);
    renamed_and_retired(&shop);
    exported(&shop);
}

/// `$ rehearsal evaluate shop.model held-out/ --report eval/`
fn evaluated(shop: &Shop, classes: &[&str]) {
    for (number, class) in classes.iter().enumerate() {
        shop.photos_from("held-out", class, 500, 6 + number);
    }
    let printed = run(shop, &["evaluate", "shop.model", "held-out/", "--report", "eval/"]);
    let told = json(&output(shop.path(), &["evaluate", "shop.model", "held-out/", "--json", "--quiet"]));
    assert_eq!((number(&told["photos"]), number(&told["version"])), (6 + 7 + 8 + 9 + 10, 2));
    let (mut rows, mut sure) = (Vec::new(), None);
    for line in printed.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("  sure: ") {
            Some(text) => sure = Some(text.to_owned()),
            None => rows.push(cells(line)),
        }
    }
    assert_eq!(rows, told::evaluation(&told));
    let wrong = told["wrong"].as_array().unwrap();
    assert_eq!(wrong.len() as u64, number(&told["photos"]) - number(&told["right"]));
    assert_eq!(sure.is_some(), told["threshold"].is_number());
    if let Some(sure) = sure {
        let answers = lines(shop, &["predict", "shop.model", "held-out/", "--json"]);
        let sure_of = |line: &&Value| line["unsure"] == false;
        let right =
            |line: &&Value| line["path"].as_str().unwrap().contains(&format!("/{}/", line["class"].as_str().unwrap()));
        let (total, right) =
            (answers.iter().filter(sure_of).count(), answers.iter().filter(sure_of).filter(right).count());
        assert_eq!(sure, format!("{:.1} % right, {right} of {total}", 100.0 * right as f64 / total as f64));
    }
    let page = fs::read_to_string(shop.path().join("eval/index.html")).unwrap();
    assert_eq!(page.matches("<figure>").count(), wrong.len());
}

/// `$ rehearsal memory shop.model sheet|list|remove|export`
fn remembered(shop: &Shop) {
    assert_eq!(run(shop, &["memory", "shop.model", "sheet", "-o", "memory.png"]), "memory.png\n");
    let sheet = image::open(shop.path().join("memory.png")).unwrap();
    assert!(sheet.width() > 10 * 24 && sheet.height() > 5 * 24, "ten images of each of five classes");
    let list = |class: &str, kept: &str| {
        let lines = lines(shop, &["memory", "shop.model", "list", "--json", "--class", class]);
        lines.into_iter().filter(|line| line["in"] == kept).count() as u64
    };
    let before = shop.show();
    for class in before["classes"].as_array().unwrap() {
        let name = class["class"].as_str().unwrap();
        assert_eq!(
            (list(name, "memory"), list(name, "holdout")),
            (number(&class["memory"]), number(&class["holdout"]["total"]))
        );
    }
    let (january, boots) = (number(&before["versions"][0]["images"]), number(&before["classes"][0]["memory"]));
    assert_eq!((january, boots > 40), (number(&before["versions"][0]["memory"]), true));

    // Photos 010 to 019 are in memory or holdout of all three versions.
    let pattern = "photos/january/boots/01*";
    assert_eq!(run(shop, &["memory", "shop.model", "remove", pattern, "--dry-run"]).lines().count(), 10);
    let removed = run(shop, &["memory", "shop.model", "remove", pattern]);
    assert!(removed.starts_with("10 images removed from memory and holdout set in 3 versions\nboots  "), "{removed}");
    let after = shop.show();
    let gone = |what: fn(&Value) -> u64| what(&before["classes"][0]) - what(&after["classes"][0]);
    assert_eq!(gone(|class| number(&class["memory"])) + gone(|class| number(&class["holdout"]["total"])), 10);
    show_says_what_json_says(shop);

    assert_eq!(run(shop, &["memory", "shop.model", "export", "remembered"]), "remembered\n");
    for class in after["classes"].as_array().unwrap() {
        let folder = shop.path().join("remembered").join(class["class"].as_str().unwrap());
        assert_eq!(fs::read_dir(folder).unwrap().count() as u64, number(&class["memory"]));
    }
}

/// `$ rehearsal class shop.model rename|retire`
fn renamed_and_retired(shop: &Shop) {
    let renamed = run(shop, &["class", "shop.model", "rename", "sneakers", "trainers"]);
    assert_eq!(renamed, "version 4: sneakers is now trainers\n");
    let retired = run(shop, &["class", "shop.model", "retire", "clogs"]);
    assert_eq!(retired, "version 5: clogs is retired: never predicted\n");
    let shown = show_says_what_json_says(shop);
    let names: Vec<&str> = shown["classes"].as_array().unwrap().iter().map(|c| c["class"].as_str().unwrap()).collect();
    assert_eq!(names, ["boots", "sandals", "trainers", "loafers"]);
}

/// `$ rehearsal export shop.model --onnx shop.onnx`, or `--safetensors`
fn exported(shop: &Shop) {
    let files = ["export", "shop.model", "--onnx", "shop.onnx", "--safetensors", "shop.safetensors"];
    assert_eq!(run(shop, &files), "shop.onnx\nshop.safetensors\n");
    let names = r#"["boots","sandals","trainers","loafers"]"#;
    let onnx = fs::read(shop.path().join("shop.onnx")).unwrap();
    assert!(onnx.windows(names.len()).any(|part| part == names.as_bytes()));
    let weights = fs::read(shop.path().join("shop.safetensors")).unwrap();
    let length = u64::from_le_bytes(weights[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&weights[8..8 + length]).unwrap();
    let about: Value = serde_json::from_str(header["__metadata__"]["rehearsal-export"].as_str().unwrap()).unwrap();
    assert_eq!(about["classes"].to_string(), names);
}
