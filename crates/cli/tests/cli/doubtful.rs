//! Results that must not pass for more than they are: of a part of the data, or of a network that
//! learned nothing; and runs that would need more memory than there is.

use std::{fs, path::Path};

use serde_json::Value;

use crate::program::{output, text};

/// CIFAR-100 with 20 training and 10 test images of its first four classes, and none of the others.
fn part_of_cifar(home: &Path) {
    let folder = home.join("cifar-100-binary");
    fs::create_dir_all(&folder).unwrap();
    let names: String = (0..100).map(|class| format!("class {class}\n")).collect();
    fs::write(folder.join("fine_label_names.txt"), names).unwrap();
    let records = |count: usize| -> Vec<u8> {
        let record =
            |i: usize| [0, (i % 4) as u8].into_iter().chain((0..3072).map(move |p| ((i % 4) * 60 + p % 50) as u8));
        (0..4 * count).flat_map(record).collect()
    };
    fs::write(folder.join("train.bin"), records(20)).unwrap();
    fs::write(folder.join("test.bin"), records(10)).unwrap();
}

const PART: &str = "80 of 50,000 training images and 40 of 10,000 test images of cifar100";

fn result(run: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(run.join("result.json")).unwrap()).unwrap()
}

#[test]
fn a_run_on_a_part_of_the_data_says_so_everywhere() {
    let place = tempfile::tempdir().unwrap();
    part_of_cifar(&place.path().join("data"));
    let settings =
        "backbone = 'tiny'\nwidth = 4\nmemory = 20\nclasses = 4\ntasks = 2\ndataset = 'cifar100'\ndata = 'data'\n";
    fs::write(place.path().join("part.toml"), settings).unwrap();
    let run = output(place.path(), &["run", "part.toml", "--out", "runs/a"]);
    let said = text(&run.stderr);
    assert!(run.status.success(), "{said}");
    let line = format!("only a part of the data is here: {PART}");
    assert_eq!(said.lines().filter(|said| *said == line).count(), 1, "{said}");
    assert!(text(&run.stdout).contains(&format!("only a part of the data: {PART}")), "{}", text(&run.stdout));
    let config = fs::read_to_string(place.path().join("runs/a/config.toml")).unwrap();
    assert!(config.contains(&format!("incomplete-data = [\"{PART}\"]\n")), "{config}");
    assert_eq!(result(&place.path().join("runs/a"))["incomplete_data"], serde_json::json!([PART]));

    let again = output(place.path(), &["run", "runs/a/config.toml", "--out", "runs/b", "--seed", "1", "--quiet"]);
    assert!(again.status.success() && again.stderr.is_empty(), "its own config repeats it: {}", text(&again.stderr));
    let report = output(place.path(), &["report", "runs"]);
    assert!(text(&report.stderr).contains(&format!("{PART} (2 runs).")));
    let page = fs::read_to_string(place.path().join("report/index.html")).unwrap();
    assert!(page.contains(&format!("<small>only {PART}</small>")) && page.contains("a part of the data)"), "{page}");
    assert!(fs::read_to_string(place.path().join("report/index.md")).unwrap().contains(PART));

    let list = output(place.path(), &["data", "list", "--data", "data"]);
    assert!(text(&list.stdout).contains("part: 80 of 50,000"), "{}", text(&list.stdout));
    let verify = output(place.path(), &["data", "verify", "cifar100", "--data", "data"]);
    assert_eq!(verify.status.code(), Some(1));
    assert!(text(&verify.stderr).contains(&format!("there are only {PART}")), "{}", text(&verify.stderr));
    let whole =
        output(place.path(), &["run", "--classes", "2", "--tasks", "1", "--train-per-class", "10", "--width", "4"]);
    assert!(whole.status.success() && !text(&whole.stderr).contains("a part of the data"), "embedded is whole");
    assert!(result(&place.path().join("runs/pcr-balanced-embedded-seed0")).get("incomplete_data").is_none());
}

#[test]
fn a_run_that_learned_nothing_says_so() {
    let place = tempfile::tempdir().unwrap();
    let base = "backbone = 'tiny'\nwidth = 8\nmemory = 100\nclasses = 4\ntasks = 2\ntrain-per-class = 100\ntest-per-class = 50\nepochs = 3\n";
    fs::write(place.path().join("small.toml"), base).unwrap();
    let run = |method: &str, lr: &str, out: &str| {
        output(place.path(), &["run", "small.toml", "--method", method, "--lr", lr, "--out", out])
    };
    for method in ["pcr", "er", "er-ace", "der-pp", "a-gem", "cls-er", "fine-tune", "joint"] {
        let absurd = run(method, "1e6", &format!("absurd-{method}"));
        let said = text(&absurd.stderr);
        // Either it ends, or it says that it learned nothing: it never passes for a result.
        if absurd.status.success() {
            assert!(said.contains("\nwarning: ") && said.contains("`--lr`"), "{method}: {said}");
            let warnings = result(&place.path().join(format!("absurd-{method}")))["warnings"].take();
            assert!(warnings.as_array().is_some_and(|all| !all.is_empty()), "{method}: {warnings}");
        } else {
            assert!(said.contains("the loss is ") && said.contains("try a smaller `--lr`"), "{method}: {said}");
        }
    }
    let usual = run("er", "0.05", "usual");
    assert!(usual.status.success() && !text(&usual.stderr).contains("warning"), "{}", text(&usual.stderr));
    assert!(result(&place.path().join("usual")).get("warnings").is_none());
}

#[test]
fn what_no_machine_has_memory_for_is_refused_with_the_estimate() {
    let place = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str]| {
        let output = output(place.path(), arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(" GB of memory, and this machine has "), "{said}");
        assert!(said.contains("choose a smaller `--width`, `--size`, `--batch`"), "{said}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing is written");
    };
    refused(&["run", "--width", "4096", "--size", "1024"]);
    refused(&["run", "--width", "4096", "--size", "1024", "--method", "fine-tune"]);
    refused(&["bench", "step", "--width", "4096", "--size", "1024"]);
}
