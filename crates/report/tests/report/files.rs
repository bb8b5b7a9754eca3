//! The files of a report: all there, whole, the same every time, and needing nothing else.

use std::{collections::BTreeMap, fs, path::Path};

use crate::support::Made;
use rehearsal_report::{
    report::{Options, Report, WriteError},
    study::Study,
};
use serde_json::json;
use tempfile::TempDir;

/// With the paper's own tables.
const PAPER: Options = Options { paper: true, bare: false };

/// Two arms of two seeds, one of them with diagnostics.
fn runs() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let small = json!({ "dataset": "embedded", "classes": 10, "tasks": 5, "epochs": 1, "memory": 500, "width": 4 });
    for seed in 0..2 {
        let plain = Made::paper().with(small.clone()).seed(seed);
        plain.write(&directory.path().join(format!("runs/plain {seed}")));
        let balanced = json!({ "retrieval": "balanced", "ratio": "5:5" });
        let ours = Made::paper().with(small.clone()).with(balanced).quality(0.8).seed(seed).diagnosed();
        ours.write(&directory.path().join(format!("runs/balanced & more-{seed}")));
    }
    directory
}

fn write(directory: &Path) {
    let study = Study::read(&[directory.join("runs")]).unwrap();
    let page = Report::new(study, PAPER).write(&directory.join("out")).unwrap();
    assert_eq!(page, directory.join("out/index.html"));
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for place in [".", "tables", "figures"] {
        for entry in fs::read_dir(directory.join(place)).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                let name = format!("{place}/{}", entry.file_name().to_str().unwrap());
                files.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A lock belongs to an open file, not to a process: another open file is like another process.
#[test]
#[cfg(unix)]
fn two_reports_are_not_written_into_one_directory_at_once() {
    let directory = runs();
    let out = directory.path().join("out");
    write(directory.path());
    let before = files(&out);
    let other = fs::File::open(&out).unwrap();
    other.try_lock().unwrap();
    let study = Study::read(&[directory.path().join("runs/plain 0")]).unwrap();
    let error = Report::new(study, Options::default()).write(&out).unwrap_err();
    assert!(matches!(&error, WriteError::Busy(path) if *path == out), "{error}");
    assert!(files(&out) == before, "nothing was written");
    drop(other);
    write(directory.path());
    assert!(files(&out) == before);
}

/// Spreadsheets run text that begins like a formula.
#[test]
fn no_cell_of_a_csv_is_a_formula() {
    let directory = tempfile::tempdir().unwrap();
    let small = json!({ "dataset": "embedded", "classes": 10, "tasks": 5, "epochs": 1, "memory": 500, "width": 4 });
    for (index, name) in ["=HYPERLINK(\"http://x\")", "@SUM(1)", "+1+cmd", "-1+cmd"].iter().enumerate() {
        let made = Made::paper().with(small.clone()).with(json!({ "method": name }));
        made.write(&directory.path().join(format!("runs/{index}")));
    }
    write(directory.path());
    let files = files(&directory.path().join("out"));
    let tables: Vec<&str> = files
        .iter()
        .filter(|(name, _)| Path::new(name).extension().is_some_and(|ending| ending == "csv"))
        .map(|(_, file)| text(file))
        .collect();
    assert!(tables.iter().any(|table| table.contains("'=HYPERLINK")), "the names are there");
    for table in tables {
        for field in table.split([',', '\n']).map(|field| field.trim_start_matches('"')) {
            assert!(!field.starts_with(['=', '@', '+']) || field.parse::<f64>().is_ok(), "{field}");
            assert!(!field.starts_with("-1+"), "{field}");
        }
    }
}

#[test]
fn every_table_and_figure_is_there_in_every_format() {
    let directory = runs();
    write(directory.path());
    let files = files(&directory.path().join("out"));
    for table in [
        "table1-methods",
        "table3-ratios",
        "ratios-forgetting",
        "selections",
        "results",
        "differences",
        "tests",
        "mcnemar-embedded",
        "first-and-last-embedded",
        "costs",
    ] {
        for ending in ["md", "tex", "csv"] {
            assert!(files.contains_key(&format!("tables/{table}.{ending}")), "{table}.{ending} in {:?}", files.keys());
        }
    }
    for figure in [
        "so-far",
        "forgetting",
        "classes",
        "after",
        "retention",
        "tasks",
        "matrices",
        "time",
        "peak-memory",
        "drift-tasks-raw",
        "drift-tasks-normalised",
        "drift-classes-raw",
        "drift-classes-normalised",
        "inner-distance",
        "distance-to-proxies",
        "class-mix",
        "loss-change",
        "alignment-1",
        "task-age",
        "replays",
        "class-mix-sides",
        "first-order",
    ] {
        let svg = text(&files[&format!("figures/{figure}-embedded.svg")]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{figure}");
        let png = &files[&format!("figures/{figure}-embedded.png")];
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{figure}");
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert!(
            svg.contains(&format!("width=\"{}\" height=\"{}\"", number(16) / 2, number(20) / 2)),
            "{figure}: twice the SVG"
        );
    }
    assert!(!files.keys().any(|name| name.ends_with(".partial")));
}

#[test]
fn the_page_needs_no_network_and_its_links_lead_somewhere() {
    let directory = runs();
    write(directory.path());
    let out = directory.path().join("out");
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    let without_names = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!without_names.contains(outside), "{outside}");
    }
    let mut local = 0;
    for link in page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        if let Some(anchor) = link.strip_prefix('#') {
            assert!(page.contains(&format!("id=\"{anchor}\"")), "{link}");
        } else {
            local += 1;
            let path = link.replace("%20", " ").replace("%26", "&");
            assert!(out.join(&path).exists(), "{path}");
        }
    }
    assert!(local > 4 * 2, "runs and files are linked: {local}");
    assert!(page.contains("<script>") && page.contains("data-tip=") && page.contains("class=\"legend\""));
}

#[test]
fn figures_come_before_tables_and_settings_are_told_once() {
    let directory = runs();
    write(directory.path());
    let page = fs::read_to_string(directory.path().join("out/index.html")).unwrap();
    let main = page.split_once("<main>").unwrap().1;
    for section in main.split("<h2 id=\"").skip(1).filter(|section| section.contains("<figure")) {
        let (figure, table) = (section.rfind("</figure>"), section.find("<section class=\"table\""));
        assert!(table.is_none_or(|table| figure.unwrap() < table), "{}", &section[..80]);
        let heading = section.split(['>', '<']).nth(1).unwrap();
        let below = section.split("<h3>").skip(1).map(|rest| rest.split_once("</h3>").unwrap().0);
        for title in below {
            assert!(!title.contains(heading), "{heading} is said again in {title}");
        }
    }
    assert!(main.matches("class=\"wide\"").count() > 3, "each has a drawing for wide screens");
    assert_eq!(main.matches("class=\"wide\"").count(), main.matches("class=\"narrow\"").count(), "and for phones");
}

#[test]
fn the_same_runs_give_the_same_bytes_and_an_older_report_leaves_nothing_behind() {
    let directory = runs();
    write(directory.path());
    let first = files(&directory.path().join("out"));
    fs::write(directory.path().join("out/tables/old.md"), "of another report").unwrap();
    write(directory.path());
    assert_eq!(files(&directory.path().join("out")), first);
}

#[test]
fn a_directory_that_holds_something_else_is_refused() {
    let directory = runs();
    let study = Study::read(&[directory.path().join("runs")]).unwrap();
    let out = directory.path().join("precious");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("index.html"), "a page of someone's").unwrap();
    let error = Report::new(study, PAPER).write(&out).unwrap_err();
    assert!(matches!(&error, WriteError::Taken(path) if *path == out), "{error}");
    assert_eq!(files_in(&out), 1);
}

#[test]
fn a_report_that_was_interrupted_is_made_again() {
    let directory = runs();
    write(directory.path());
    let out = directory.path().join("out");
    let whole = files(&out);
    // A directory is in the way of the last but one file.
    fs::remove_file(out.join("index.md")).unwrap();
    fs::create_dir_all(out.join("index.md/in the way")).unwrap();
    let study = || Study::read(&[directory.path().join("runs")]).unwrap();
    let error = Report::new(study(), PAPER).write(&out).unwrap_err();
    assert!(matches!(&error, WriteError::Unwritable { path, .. } if path.ends_with("index.md")), "{error}");
    // A first report would not have had a page yet.
    fs::remove_file(out.join("index.html")).unwrap();
    fs::remove_dir_all(out.join("index.md")).unwrap();
    write(directory.path());
    assert_eq!(files(&out), whole, "nothing is left of the interruption");
}

#[test]
fn figures_of_hundreds_of_tasks_stay_small() {
    let directory = tempfile::tempdir().unwrap();
    let settings =
        json!({ "dataset": "embedded", "classes": 300, "tasks": 300, "epochs": 1, "memory": 500, "width": 4 });
    Made::paper().with(settings).write(&directory.path().join("runs/long"));
    write(directory.path());
    let files = files(&directory.path().join("out"));
    let limits = [
        ("figures/tasks-embedded.svg", 3 << 20),
        ("figures/matrices-embedded.svg", 3 << 20),
        ("./index.html", 8 << 20),
    ];
    for (name, limit) in limits {
        let bytes = files.get(name).unwrap_or_else(|| panic!("no {name}: {:?}", files.keys()));
        assert!(bytes.len() < limit, "{name} has {} bytes", bytes.len());
    }
    assert!(text(&files["./index.html"]).contains("40 of 300 tasks are shown"));
}

fn files_in(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

#[test]
fn latex_and_csv_are_well_formed() {
    let directory = runs();
    write(directory.path());
    for (name, bytes) in files(&directory.path().join("out")) {
        let text = || text(&bytes);
        let ending = Path::new(&name).extension().and_then(|ending| ending.to_str());
        if ending == Some("tex") {
            let depth = text().replace("\\\\", "").replace("\\{", "").replace("\\}", "").chars().fold(
                0_i32,
                |depth, c| match c {
                    '{' => depth + 1,
                    '}' => depth - 1,
                    _ => depth,
                },
            );
            assert_eq!(depth, 0, "{name}");
            assert!(text().contains("\\toprule") && text().contains("\\bottomrule"), "{name}");
            assert!(
                text().is_ascii(),
                "{name} has letters that plain LaTeX does not know: {:?}",
                text().chars().find(|c| !c.is_ascii())
            );
            let columns = text().split("\\begin{tabular}{").nth(1).unwrap().split('}').next().unwrap().len();
            for row in text().lines().filter(|line| line.ends_with("\\\\") && !line.contains("multicolumn")) {
                assert_eq!(row.replace("\\&", "").matches('&').count() + 1, columns, "{name}: {row}");
            }
        } else if ending == Some("csv") {
            let fields = |line: &str| line.split('"').step_by(2).collect::<String>().matches(',').count() + 1;
            let columns = fields(text().lines().next().unwrap());
            assert!(text().lines().all(|line| fields(line) == columns), "{name}");
        }
    }
}

#[test]
fn figures_without_data_are_left_out_and_noted() {
    let directory = tempfile::tempdir().unwrap();
    Made::paper().write(&directory.path().join("runs/0"));
    let report = Report::new(Study::read(&[directory.path().join("runs")]).unwrap(), PAPER);
    let part = &report.parts[0];
    assert!(!part.figures.iter().any(|figure| figure.id.contains("drift")));
    assert!(part.notes.iter().any(|note| note.contains("no run wrote diagnostics.jsonl")), "{:?}", part.notes);
    assert!(part.notes.iter().any(|note| note.starts_with("No table of memory sizes")), "{:?}", part.notes);
    report.write(&directory.path().join("out")).unwrap();
    let page = fs::read_to_string(directory.path().join("out/index.html")).unwrap();
    assert!(page.contains("What is missing") && page.contains("no run wrote diagnostics.jsonl"));
}

/// Names of classes and directories are not markup.
#[test]
fn names_stay_names_in_every_format() {
    let directory = tempfile::tempdir().unwrap();
    let hostile = json!([["<script>alert(1)</script>|x", "\u{1b}[2J\n# heading"], ["[a](javascript:b)", "50 % & ~"]]);
    for seed in 0..2 {
        let named = json!({ "dataset": "folder", "classes": 4, "tasks": 2, "task-classes": hostile, "custom-method": "<b>|\u{1b}" });
        let made = Made::paper().with(named).seed(seed).diagnosed();
        made.write(&directory.path().join(format!("runs/<script>alert({seed})<-")));
    }
    write(directory.path());
    for (name, bytes) in files(&directory.path().join("out")) {
        let (_, ending) = name.rsplit_once('.').unwrap();
        if ending == "png" {
            continue;
        }
        let text = text(&bytes);
        assert!(!text.contains('\u{1b}'), "{name}");
        // In comma-separated values nothing is markup.
        if ending != "csv" {
            assert!(!text.contains("<script>alert") && !text.contains("<b>|"), "{name}: {text}");
        }
        let is_row = |line: &&str| line.starts_with('|');
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        if ending == "md" && name.starts_with("tables/") {
            let counts: Vec<usize> = text.lines().filter(is_row).map(columns).collect();
            assert!(counts.iter().all(|count| *count == counts[0]), "{name}: {text}");
            assert!(!text.contains("\n# heading"), "{name}");
        }
    }
}

#[test]
fn a_part_of_the_data_and_warnings_are_shown_and_are_not_the_papers_setting() {
    let directory = tempfile::tempdir().unwrap();
    let path = Made::paper().write(&directory.path().join("runs/0"));
    let part = "30,000 of 50,000 training images and 10,000 of 10,000 test images of cifar100";
    let file = path.join("result.json");
    let mut result: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    result["incomplete_data"] = json!([part]);
    result["warnings"] = json!(["it seems that nothing was learned"]);
    fs::write(&file, result.to_string()).unwrap();
    write(directory.path());
    let files = files(&directory.path().join("out"));
    for name in ["./index.html", "./index.md"] {
        let text = text(&files[name]);
        assert!(text.contains(&format!("Only a part of the data was available: {part} (1 run).")), "{name}");
        assert!(text.contains("it seems that nothing was learned"), "{name}");
        assert!(text.contains("CIFAR100 (a part of the data)"), "{name}");
    }
    let table = text(&files["tables/table1-methods.md"]);
    assert!(table.contains("different setting") && table.contains(&format!("only {part} (paper all)")), "{table}");
}
