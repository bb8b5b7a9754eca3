//! What the verbs of a model must print, computed from what they say as JSON.

use serde_json::Value;

/// A number in JSON.
pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn name(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// `{ right, total }` as a percentage with one decimal.
pub fn percent(score: &Value) -> String {
    format!("{:.1}", 100.0 * number(&score["right"]) as f64 / number(&score["total"]) as f64)
}

fn images(count: u64) -> String {
    if count == 1 { "1 image".into() } else { format!("{} images", thousands(count)) }
}

fn thousands(count: u64) -> String {
    if count < 1000 { count.to_string() } else { format!("{},{:03}", count / 1000, count % 1000) }
}

/// Of a file between a kilobyte and a gigabyte.
fn size(bytes: u64) -> String {
    if bytes < 1_000_000 { format!("{:.1} kB", bytes as f64 / 1e3) } else { format!("{:.1} MB", bytes as f64 / 1e6) }
}

/// The first line of a version: what it knows and how well.
pub fn version_line(report: &Value) -> String {
    let total = number(&report["holdout"]["total"]);
    let (version, classes) = (&report["version"], &report["classes"]);
    if total == 0 {
        return format!("version {version}: {classes} classes, no holdout set yet\n");
    }
    format!("version {version}: {classes} classes, holdout {} % of {}\n", percent(&report["holdout"]), images(total))
}

/// `84 to 99 %`: Wilson's interval at 95 % confidence.
pub fn interval(score: &Value) -> String {
    let (right, total) = (number(&score["right"]) as f64, number(&score["total"]) as f64);
    let z = 1.959_964_f64;
    let (centre, n) = (right + z * z / 2.0, total + z * z);
    let half = z * (right * (total - right) / total + z * z / 4.0).sqrt();
    format!("{:.0} to {:.0} %", 100.0 * (centre - half) / n, 100.0 * (centre + half) / n)
}

/// What `learn` prints.
pub fn session(report: &Value) -> String {
    let is_accepted = report["accepted"].as_bool().unwrap();
    let version = &report["version"];
    let mut text = if is_accepted {
        version_line(report)
    } else {
        format!("version {version} rejected, version {} stays current:\n", report["parent"])
    };
    if is_accepted && number(&report["holdout"]["total"]) > 0 {
        text += &format!("  95 % confidence: {}\n", interval(&report["holdout"]));
    }
    match number(&report["near_duplicates"]) {
        0 => {}
        1 => text += "  1 near-duplicate of learned photos left out of the holdout set\n",
        count => text += &format!("  {count} near-duplicates of learned photos left out of the holdout set\n"),
    }
    if !report["old"].is_null() {
        text += &format!("  old classes {}\n", change(&report["old"]));
        if !is_accepted {
            let limit = report["max_forgetting"].as_f64();
            text += &limit.map_or_else(
                || "  they lost more than chance explains\n".to_owned(),
                |limit| format!("  they lost more than {}%\n", 100.0 * limit),
            );
        }
        text += &format!("  new classes {} %\n", percent(&report["new"]));
    }
    text += &forgotten(list(&report["by_class"]));
    let (memory, capacity) = (number(&report["memory"]), number(&report["memory_capacity"]));
    let bytes = size(number(&report["bytes"]));
    text += &format!("  memory {} of {} images, {bytes}\n", thousands(memory), thousands(capacity));
    if !is_accepted {
        text += &format!("  to use it anyway: rehearsal use shop.model {version}\n");
        text += "  to accept what is lost: the same with --accept\n";
        text += &match report["epochs"].as_u64() {
            Some(epochs) => format!("  to try otherwise: the same with --epochs {}\n", 2 * epochs),
            None => format!("  to see why: rehearsal evaluate shop.model DIR --version {version}\n"),
        };
    }
    text
}

fn change(old: &Value) -> String {
    let (before, after, p) = (&old["before"], &old["after"], old["p"].as_f64().unwrap());
    let chance = match p {
        _ if before == after => String::new(),
        p if p >= 0.05 => format!(" (may be chance, p = {p:.2})"),
        p if p < 0.001 => " (beyond chance, p < 0.001)".into(),
        p => format!(" (beyond chance, p = {p:.3})"),
    };
    format!("{} → {} %{chance}", percent(before), percent(after))
}

/// The two classes that lost most.
fn forgotten(classes: &[Value]) -> String {
    let points = |class: &Value| {
        let lost = class["right_before"].as_f64()? - class["right"].as_f64()?;
        Some(100.0 * lost / class["total"].as_f64()?).filter(|points| *points > 0.0)
    };
    let mut lost: Vec<(f64, &Value)> = classes.iter().filter_map(|class| Some((points(class)?, class))).collect();
    lost.sort_by(|a, b| b.0.total_cmp(&a.0));
    let words = |(points, class): &(f64, &Value)| {
        let total = number(&class["total"]);
        format!(
            "{} −{points:.1} points ({total} holdout image{})",
            name(&class["class"]),
            if total == 1 { "" } else { "s" }
        )
    };
    let lost: Vec<String> = lost.iter().take(2).map(words).collect();
    // A first name that is too long for 60 columns has a line of its own.
    let space = if lost.first().is_some_and(|first| first.chars().count() <= 41) { " " } else { "\n    " };
    if lost.is_empty() { String::new() } else { format!("  forgotten most:{space}{}\n", lost.join(",\n    ")) }
}

/// The cells of a line: what two spaces or more stand between.
pub fn cells(line: &str) -> Vec<String> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

/// The cells of a line of `predict`.
pub fn answer(line: &Value) -> Vec<String> {
    let percent = |line: &Value| format!("{:.0} %", 100.0 * line["probability"].as_f64().unwrap() as f32);
    let other = |other: &Value| format!("{} {}", name(&other["class"]), percent(other));
    let others: Vec<String> = list(&line["others"]).iter().take(2).map(other).collect();
    let mut cells = vec![name(&line["path"]).to_owned(), name(&line["class"]).to_owned(), percent(line)];
    cells.extend(line["unsure"].as_bool().unwrap().then(|| "unsure".to_owned()));
    cells.push(format!("({})", others.join(", ")));
    cells
}

/// The cells of what `show` prints, line by line; empty lines are left out.
pub fn show(shown: &Value) -> Vec<Vec<String>> {
    let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    let classes = list(&shown["classes"]);
    let sum = |what: &str| classes.iter().map(|class| number(&class["holdout"][what])).sum::<u64>();
    let holdout = serde_json::json!({ "right": sum("right"), "total": sum("total") });
    let (memory, config) = (&shown["memory"], &shown["config"]);
    let sure = match shown["threshold"].as_f64() {
        Some(threshold) => format!("from {:.0} %: 19 of 20 such answers are right", 100.0 * threshold),
        None if sum("total") < 20 => "never: the holdout set is too small".into(),
        None => "never: no threshold makes 19 of 20 holdout answers right".into(),
    };
    let (side, method) = (&shown["size"], name(&config["method"]));
    let mut rows = vec![
        row(&[&format!("{}: version {}, {} classes", name(&shown["model"]), shown["current"], classes.len())]),
        row(&["images", &format!("{} learned, seen as {side}×{side}", thousands(number(&shown["images_learned"])))]),
        row(&["holdout", &format!("{} % of {} ({})", percent(&holdout), images(sum("total")), interval(&holdout))]),
        row(&[
            "memory",
            &format!("{} of {} images", thousands(number(&memory["images"])), thousands(number(&memory["capacity"]))),
        ]),
        row(&["sure", &sure]),
        row(&[
            "learner",
            &format!("{method} + {}, width {}, seed {}", name(&config["retrieval"]), config["width"], config["seed"]),
        ]),
        row(&["class", "learned", "memory", "holdout"]),
    ];
    rows.extend(classes.iter().map(|class| {
        let holdout = format!("{} % of {}", percent(&class["holdout"]), class["holdout"]["total"]);
        row(&[name(&class["class"]), &class["learned"].to_string(), &class["memory"].to_string(), &holdout])
    }));
    rows.push(row(&["version", "when (UTC)", "size"]));
    rows.extend(list(&shown["versions"]).iter().map(|version| {
        let star = if version["version"] == shown["current"] { "* " } else { "" };
        let when = name(&version["when"]).replace('T', " ")[..16].to_owned();
        let what = match (name(&version["event"]), version["accepted"].as_bool()) {
            ("renamed", _) => format!("{} renamed {}", name(&version["from"]), name(&version["to"])),
            ("retired", _) => format!("{} retired", name(&version["class"])),
            (_, Some(true)) => format!("{} classes, holdout {} %", version["classes"], percent(&version["holdout"])),
            _ => {
                let (before, after) = (percent(&version["old"]["before"]), percent(&version["old"]["after"]));
                format!("rejected, {before} → {after} %")
            }
        };
        row(&[&format!("{star}{}", version["version"]), &when, &what, &size(number(&version["bytes"]))])
    }));
    rows
}

/// The cells of what `evaluate` prints, line by line; the line of sure answers, which JSON has not, is left out.
pub fn evaluation(told: &Value) -> Vec<Vec<String>> {
    let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    let (right, photos) = (number(&told["right"]), number(&told["photos"]));
    let all = percent(&serde_json::json!({ "right": right, "total": photos }));
    let mut rows = vec![
        row(&[&format!("version {}: {all} % right, {right} of {photos} photos", told["version"])]),
        row(&[&format!("95 % confidence: {}", interval(&serde_json::json!({ "right": right, "total": photos })))]),
        row(&["class", "photos", "right", "mistaken most for"]),
    ];
    let names = list(&told["classes"]);
    for (class, counts) in list(&told["confusion"]).iter().enumerate() {
        let counts: Vec<u64> = list(counts).iter().map(number).collect();
        let total: u64 = counts.iter().sum();
        let right = percent(&serde_json::json!({ "right": counts[class], "total": total }));
        let mut most: Option<usize> = None;
        for other in (0..counts.len()).filter(|other| *other != class && counts[*other] > 0) {
            most = most.filter(|most| counts[*most] >= counts[other]).or(Some(other));
        }
        let mut cells = row(&[name(&names[class]), &total.to_string(), &format!("{right} %")]);
        cells.extend(most.map(|other| format!("{} ({})", name(&names[other]), counts[other])));
        rows.push(cells);
    }
    rows
}
