//! The table of trials: commands, the files that they start with, and what must hold after them.
//! Everything that this tool knows about the program is here: commands, settings, names of files, messages.

use std::{fs, path::Path};

pub use rehearsal_runs::files::STEPS;
use rehearsal_runs::{
    Role,
    files::{CHECKPOINT, CONFIG, DIAGNOSTICS, HOLDERS, MANIFEST, PREDICTIONS, RESULT},
};
use serde_json::Value;

use crate::{
    process::Exit,
    scenario::{Same, Scenario},
    tally::Verdict,
    workspace::files_below,
};

pub const PANIC: &str = "panicked at";
/// How a grid reports that the process of a run was killed.
pub const CHILD_KILLED: &str = "signal: 9";
/// Burn's matrix products ask `lscpu` for the sizes of caches. If the pipe to it fails, which only our faults cause,
/// the standard library panics here: that is not counted.
pub const PANIC_OF_STD: &str = "library/std/src/sys/process/";

/// The bytes of a pack before its images.
pub const PACK_HEADER: usize = 4096;
/// What stands before the path of the folder in the header of a pack.
pub const PACK_ROOT: &str = "\"root\":\"";
pub const ARCHIVE: &str = "cifar-100-binary.tar.gz";
/// The example that saves a learner: it is there only if it was built.
pub const GROW: &str = "grow";
const SESSION_CHECKPOINT: &str = "shop.model/learning.safetensors";
const PACKS: &str = "photos/.rehearsal/packs";

/// Files that are not compared. A checkpoint of a session that has ended may be left if it could not be removed: the
/// next session removes it.
pub fn is_ignored(file: &str) -> bool {
    let names = [CONFIG, "lock", ".lock", "learning.safetensors"];
    let is_part = |part: &str| part == HOLDERS || part.contains("tfevents");
    file.split('/').any(is_part) || file.ends_with(".pack.journal") || names.contains(&file_name(file))
}

/// Files that must not be there at the end: incomplete ones, and logs of runs that ended well.
pub fn is_leftover(file: &str) -> bool {
    file.ends_with(".partial") || file.contains("logs/")
}

/// What may differ between two undisturbed runs: times, memory, checksums of them, settings on which results do not
/// depend (`!`). Paths of JSON values, `*` being every element of an array; of `model.toml` beginnings of lines.
pub fn varying(file: &str) -> &'static [&'static str] {
    match file_name(file) {
        RESULT => &["seconds", "samples_per_second", "peak_memory_bytes", "sha256", "files", "config.!"],
        STEPS => &["seconds"],
        // The length of the log depends on the digits of seconds.
        "latest.safetensors" => &[
            "sha256",
            "config.!",
            "run.settings.!",
            "run.progress.task_seconds",
            "run.progress.phases",
            "run.progress.peak_memory_bytes",
            "run.progress.steps_length",
            "run.progress.log",
        ],
        "history.jsonl" => &["when"],
        "model.toml" => &["sha256 = \"", "history-sha256", "history-bytes"],
        // Of `show --json`: whether a session can be resumed, and the sizes of damaged files.
        "show.json" => &["interrupted", "versions.*.bytes", "versions.*.state"],
        _ => &[],
    }
}

pub fn is_neutral(setting: &str) -> bool {
    Role::of_setting(setting) == Role::Neutral
}

fn file_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// 24 steps in two tasks of two classes of the embedded images, with a checkpoint after every step.
const RUN: &str = "classes = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 10\nepochs = 2\nbackbone = 'tiny'\n\
                   width = 4\nmemory = 25\ncandidates = 12\ncheckpoint-minutes = 0.0\nthreads = 1\n";
const RUN_ON_FOLDER: &str = "dataset = 'folder'\ndata = 'photos'\nsize = 16\ntasks = 2\nbackbone = 'tiny'\nwidth = 4\n\
                             candidates = 12\ncheckpoint-minutes = 0.0\nthreads = 1\n";
/// By what the memory, the method, the optimizer or the counters keep between steps.
const RUNS: [(&str, &str); 6] = [
    ("run pcr, balanced, diagnostics, TensorBoard", "diagnostics = true\ntensorboard = true\n"),
    ("run der-pp, gss, random", "method = 'der-pp'\nmemory-policy = 'gss'\nretrieval = 'random'\n"),
    (
        "run cls-er, class-balanced, momentum",
        "method = 'cls-er'\nmemory-policy = 'class-balanced'\nretrieval = 'random'\nmomentum = 0.9\nstable-frequency = 0.5\n",
    ),
    ("run aser, diagnostics", "method = 'aser'\ndiagnostics = true\n"),
    ("run er-ace, mir, cosine", "method = 'er-ace'\nretrieval = 'mir'\nschedule = 'cosine'\ntensorboard = true\n"),
    ("run a-gem, blurry", "method = 'a-gem'\nretrieval = 'random'\nstream = 'blurry'\nblur = 0.2\n"),
];
/// Training sessions: the classes of each, and how many photos.
pub const SESSIONS: [(&str, &[(&str, u8)]); 3] =
    [("january", &[("a", 14), ("b", 14)]), ("february", &[("c", 12), ("a", 6)]), ("march", &[("d", 12)])];
/// A few steps of a small network.
const LEARN: &str = "backbone = 'tiny'\nwidth = 4\nepochs = 3\nbatch = 5\nretrieved = 5\ncandidates = 8\n";
const CHANGES: [&str; 4] = [
    "memory shop.model remove january/a/1*",
    "class shop.model rename b 'wooden shoes'",
    "class shop.model retire c",
    "use shop.model 2",
];
const STATS: &str = "data stats folder --data photos --size 16 --json -q";
const VERIFY: &str = "data verify cifar100 --json -q";
pub const FETCH: &str = "data fetch cifar100 --trust --part -q";
pub const FETCH_BY_HAND: &str = "data fetch cifar100 --trust --part -q --from {shared}/cifar-100-binary.tar.gz";
pub const FETCHED: Same = &["data/cifar100"];

/// What is killed, disturbed by faults of the disk, and traced.
pub fn scenarios() -> Vec<Scenario> {
    let folder = "train-per-class = 40\ntest-per-class = 10\nmemory = 25\nmethod = 'er'\nretrieval = 'random'\n";
    let folder = run("run er on a folder, packed first", format!("{RUN_ON_FOLDER}{folder}"));
    let runs = RUNS.map(|(name, settings)| run(name, format!("{RUN}{settings}"))).into_iter();
    let runs = runs.chain([folder.shared("photos", "photos")]);
    let mut all = vec![
        learn("learn pcr, three sessions", "", 0),
        learn("learn der-pp, momentum, three sessions", "method = 'der-pp'\nmomentum = 0.9\n", 0),
        learn_exact(),
        Scenario::new("memory remove, class rename and retire, use", &CHANGES, &["shop.model"])
            .shared("learned/shop.model", "shop.model")
            .steps(CHANGES.len(), changes_made),
    ];
    all.extend(runs);
    all.extend([grid(), report(), pack(), fetch()]);
    all
}

fn run(name: &str, settings: String) -> Scenario {
    let commands = ["run run.toml --out run --quiet", "run --resume run --quiet"];
    let next = |directory: &Path| usize::from(directory.join("run").join(CONFIG).exists());
    Scenario::new(name, &commands, &["run"]).file("run.toml", settings).steps(1, next)
}

/// Three training sessions with a checkpoint after every step.
pub fn learn(name: &str, settings: &str, seed: u64) -> Scenario {
    let commands = SESSIONS.map(|(session, _)| learn_command(session, seed));
    Scenario::new(name, &commands.each_ref().map(String::as_str), &["shop.model"])
        .shared("sessions", "")
        .file("small.toml", format!("{LEARN}{settings}"))
        .steps(SESSIONS.len(), |directory| model_setting(directory, "last").unwrap_or(0))
}

/// Three training sessions with the pre-trained backbone.
fn learn_exact() -> Scenario {
    let commands = SESSIONS.map(|(session, _)| format!("learn shop.model {session} --threads 1 --keep 9 --accept"));
    let commands = commands.each_ref().map(String::as_str);
    Scenario::new("learn with a pre-trained backbone, three sessions", &commands, &["shop.model"])
        .shared("sessions", "")
        .steps(SESSIONS.len(), |directory| model_setting(directory, "last").unwrap_or(0))
}

fn learn_command(session: &str, seed: u64) -> String {
    format!(
        "learn shop.model {session} --settings small.toml --seed {seed} --memory 24 --threads 1 --checkpoint-every 0 --keep 9 --accept"
    )
}

fn grid() -> Scenario {
    let file = format!("[fixed]\n{RUN}diagnostics = true\n[axes]\nseed = [0, 1]\n");
    Scenario::new("grid", &["grid small.toml --jobs 2 --threads 2"], &["runs/small"]).file("small.toml", file)
}

/// The runs that reports are made of.
pub fn runs_to_report() -> Scenario {
    let commands = ["run run.toml --seed 0 --out run0 --quiet", "run run.toml --seed 1 --out run1 --quiet"];
    Scenario::new("runs", &commands, &[]).file("run.toml", format!("{RUN}diagnostics = true\n"))
}

fn report() -> Scenario {
    Scenario::new("report", &["report {shared}/runs --out report --quiet"], &["report"])
}

fn pack() -> Scenario {
    Scenario::new("data stats, packing a folder", &[STATS], &[PACKS, "stdout"]).shared("photos", "photos")
}

fn fetch() -> Scenario {
    Scenario::new("data fetch, unpacking an archive", &[FETCH_BY_HAND], &["data"])
}

/// A number of `model.toml`.
fn model_setting(directory: &Path, name: &str) -> Option<usize> {
    let text = fs::read_to_string(directory.join("shop.model/model.toml")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_prefix('=')?.trim().parse().ok())
}

/// The number of lines that the history has after those of the sessions.
fn changes_made(directory: &Path) -> usize {
    let history = fs::read(directory.join("shop.model/history.jsonl")).unwrap_or_default();
    let valid = model_setting(directory, "history-bytes").unwrap_or(0);
    history.iter().take(valid).filter(|byte| **byte == b'\n').count().saturating_sub(SESSIONS.len())
}

/// Files of which one is damaged.
pub struct Damaged {
    pub name: &'static str,
    /// What makes the files.
    pub scenario: Scenario,
    /// It is killed when this holds; `None`: it runs to its end.
    pub killed_when: Option<fn(&Path) -> bool>,
    /// The same from another seed, whose files replace those of the first.
    pub other: Option<Scenario>,
    /// The directory of the files that are damaged.
    pub below: &'static str,
    /// Only files whose names end in one of these; all files if there is none.
    pub only: &'static [&'static str],
    /// Commands that read the files; if there is none, the next one of the scenario, which must have its result.
    pub readers: Vec<(String, Same)>,
}

pub fn damaged() -> Vec<Damaged> {
    let row = |name, scenario, below| Damaged {
        name,
        scenario,
        killed_when: None,
        other: None,
        below,
        only: &[],
        readers: vec![],
    };
    let readers = |readers: &[(&str, Same)]| readers.iter().map(|(line, same)| ((*line).to_owned(), *same)).collect();
    let logged = |settings: &str| run("run", format!("{settings}diagnostics = true\ntensorboard = true\n"));
    let finished = |seed: &'static str| Scenario::new("finished", &[], &[]).shared(seed, "run0");
    let first_checkpoint_only = RUN.replace("checkpoint-minutes = 0.0", "checkpoint-minutes = 10.0");
    let on_photos = run("run on a folder", format!("{RUN_ON_FOLDER}epochs = 2\nmemory = 20\n"));
    let killed_grid = |dir: &Path| has(dir, "runs/small/seed0", &[CHECKPOINT], RESULT);
    let grow = Scenario::new(GROW, &["{examples}/grow learn shop.safetensors"], &[]);
    vec![
        Damaged {
            killed_when: Some(|dir| has(dir, "run", &[CHECKPOINT, DIAGNOSTICS], PREDICTIONS)),
            other: Some(logged(&format!("{RUN}seed = 1\n"))),
            ..row("stopped run", logged(RUN), "run")
        },
        Damaged {
            other: Some(finished("runs/run1")),
            readers: readers(&[
                ("run --resume run0 --json", &["stdout as result.json"]),
                ("compare run0 run1 --json", &["stdout"]),
                ("report . --out report --quiet", &["stdout", "report"]),
            ]),
            ..row("finished run", finished("runs/run0").shared("runs/run1", "run1"), "run0")
        },
        // The folder may be packed again: only what is printed counts.
        Damaged { readers: readers(&[(STATS, &["stdout"])]), ..row("packed folder", pack(), PACKS) },
        Damaged {
            killed_when: Some(|dir| dir.join(SESSION_CHECKPOINT).exists()),
            other: Some(learn("learn", "", 1)),
            readers: readers(&[
                ("show shop.model --json", &["stdout as show.json"]),
                ("predict shop.model january --json", &["stdout"]),
                ("predict shop.model january --json --version 1", &["stdout"]),
                ("memory shop.model list --json", &["stdout"]),
                (&learn_command(SESSIONS[2].0, 0), &["shop.model/versions/0003.safetensors"]),
                ("use shop.model 1", &["stdout"]),
            ]),
            ..row("model", learn("learn", "", 0), "shop.model")
        },
        Damaged {
            killed_when: Some(|dir| has(dir, "run", &[CHECKPOINT], DIAGNOSTICS)),
            ..row("run without a finished task", logged(&first_checkpoint_only), "run")
        },
        Damaged {
            killed_when: Some(|dir| has(dir, "run", &[CHECKPOINT], PREDICTIONS)),
            only: &["/0.bmp", "/1.bmp"],
            ..row("data of a stopped run", on_photos.shared("few-photos", "photos"), "photos/a")
        },
        Damaged { killed_when: Some(killed_grid), ..row("grid", grid(), "runs/small") },
        Damaged {
            killed_when: Some(killed_grid),
            only: &[MANIFEST],
            readers: readers(&[
                ("grid status runs/small/manifest.jsonl", &[]),
                ("grid run-one runs/small/manifest.jsonl --index 0 --threads 1", &["runs/small/seed0"]),
            ]),
            ..row("run-one", grid(), "runs/small")
        },
        Damaged { killed_when: Some(has_half_a_pack), ..row("half a pack", pack(), PACKS) },
        Damaged {
            readers: readers(&[(VERIFY, &[])]),
            ..row("unpacked data, verified", fetch(), "data/cifar100/archive")
        },
        Damaged { only: &["index.html", "index.md"], ..row("report, made again", report(), "report") },
        Damaged {
            readers: readers(&[("{examples}/grow more shop.safetensors", &["stdout", "shop.safetensors"])]),
            ..row("saved model", grow, "")
        },
    ]
}

/// Whether a run has some files and does not have another.
fn has(directory: &Path, run: &str, files: &[&str], not: &str) -> bool {
    let has = |file: &str| directory.join(run).join(file).exists();
    files.iter().all(|file| has(file)) && !has(not)
}

fn has_half_a_pack(directory: &Path) -> bool {
    let is_begun = |file: &Path| {
        file.to_string_lossy().contains(".pack.") && file.metadata().is_ok_and(|metadata| metadata.len() > 0)
    };
    files_below(&directory.join(PACKS)).is_ok_and(|files| files.iter().any(|file| is_begun(file)))
}

/// Whether a command reads damaged files in a trial. Without a result, a run is not a finished one, and reports say so.
/// Reports are slow: every tenth trial.
pub fn reads(command: &str, directory: &Path, trial: usize) -> bool {
    let finished = || directory.join("run0").join(RESULT).symlink_metadata().is_ok();
    match command.split(' ').next() {
        Some("compare") => finished(),
        Some("report") => finished() && trial % 10 == 7,
        _ => true,
    }
}

/// The verdict on a command whose report on standard output must name the damaged file; `None` for other commands.
pub fn verdict_on_report(command: &str, exit: &Exit) -> Option<Verdict> {
    if command != VERIFY {
        return None;
    }
    let report: Value = serde_json::from_slice(&exit.stdout).unwrap_or_default();
    Some(match Verdict::of_failed_report(exit) {
        Some(wrong @ Verdict::Wrong(..)) => wrong,
        _ if report["report"]["bad"].as_array().is_some_and(Vec::is_empty) => {
            Verdict::another_result("no damage is reported")
        }
        _ => Verdict::Refused("the damage is reported".into()),
    })
}

/// The name of a damaged file in the tally, without what differs from session to session.
pub fn short_name(file: &str) -> String {
    if file.contains("tfevents") {
        return "event file".into();
    }
    if Path::new(file).extension().is_some_and(|extension| extension == "bmp") {
        return "an image".into();
    }
    // A pack's name has 16 digits that say what it is made of.
    let word = |word: &str| match word.split_once('.') {
        Some((key, extension)) if key.len() == 16 => format!("….{extension}"),
        _ => word.to_owned(),
    };
    file.split('-').map(word).collect::<Vec<_>>().join("-")
}

/// Commands that read a folder of images.
pub const FOLDER_COMMANDS: [&str; 10] = [
    VERIFY_FOLDER,
    "learn new.model photos --skip-bad --threads 1",
    "learn scratch.model photos --skip-bad --backbone scratch --width 4 --epochs 1 --threads 1",
    "data stats folder --data photos --size 16",
    "data stats folder --data photos --size 16 --skip-bad",
    "data stats folder --data photos --size 16 --skip-bad --follow-links",
    "data preview folder --data photos --size 16 --skip-bad",
    "run --dataset folder --data photos --size 16 --tasks 2 --width 4 --memory 5 --threads 1 --out run --skip-bad",
    "predict {shared}/learned/shop.model photos --skip-bad",
    "evaluate {shared}/learned/shop.model photos --skip-bad --report evaluation",
];
/// Its report is on standard output.
pub const VERIFY_FOLDER: &str = "data verify folder --data photos";
pub const FOLLOW_LINKS: &str = " --follow-links";

/// Accidents with a model and its surroundings, as scripts that fail if something was lost: `$R` is the program, `$1` a
/// random number; the model `shop.model` has learned the folders beside it.
pub const ACCIDENTS: [(&str, &str); 9] = [
    (
        "learn, requests to stop that are ignored",
        "trap '' HUP INT TERM; begin new.model january --epochs 200 & sleep 0.$1
         kill -s HUP $!; kill -s INT $!; kill -s TERM $!; wait $!; $R show new.model",
    ),
    (
        "run, requests to stop that are ignored",
        "trap '' HUP INT TERM; $R run run.toml --out run --quiet & sleep 0.$1
         kill -s HUP $!; kill -s INT $!; kill -s TERM $!; wait $!; test -s run/result.json",
    ),
    (
        "grid, requests to stop that are ignored",
        "trap '' HUP INT TERM; $R grid grid.toml --jobs 2 --threads 2 & sleep 0.$1
         kill -s HUP $!; kill -s INT $!; kill -s TERM $!; wait $!; test -s runs/grid/seed1/result.json",
    ),
    (
        "a removal that matches nothing, after a session was killed",
        "mkdir more; mv march/d more/e; for photo in more/e/*; do echo >> $photo; done
         begin shop.model more --epochs 100000 --checkpoint-every 0 & until test -e shop.model/learning.safetensors; do sleep 0.1; done
         kill -s KILL $!; ! wait $!; cp -r shop.model before
         fails 2 $R memory shop.model remove 'no-such*'; diff -r before shop.model",
    ),
    (
        "the user's files beside ours",
        "mkdir out.partial; echo years > out.partial/thesis.txt; echo mine > x.onnx.partial
         $R memory shop.model export out; $R export shop.model --onnx x.onnx
         grep -q years out.partial/thesis.txt; grep -q mine x.onnx.partial",
    ),
    (
        "two exports to one place",
        "$R memory shop.model export whole
         $R memory shop.model export out & one=$!; $R memory shop.model export out & other=$!
         ! wait $one; ! wait $other; diff -r whole out; test ! -e *.rehearsal-*",
    ),
    (
        "the same rejected session again and again",
        "learn rash.model january --method fine-tune --epochs 20 --keep 1
         for i in 1 2 3; do learn rash.model march --max-forgetting 0 --epochs 20 --keep 1 && exit 9; test $? = 3; done
         test $(ls rash.model/versions | wc -l) = 2; test -e rash.model/versions/0001.safetensors",
    ),
    (
        "readers while versions are replaced",
        "learn shop.model march --keep 1 || true
         (from=a; for to in A a A a A a A a A a A a A a A a A a A a; do $R class shop.model rename $from $to || exit 1; from=$to; done) & writer=$!
         while kill -0 $writer 2> /dev/null; do
           $R show shop.model; $R predict shop.model january/b/1.bmp; $R evaluate shop.model march
           rm -rf out x.onnx; $R memory shop.model export out; $R export shop.model --onnx x.onnx
         done; wait $writer",
    ),
    (
        "a server is killed while it learns",
        "$R learn exact.model january; $R learn twin.model january march; form=()
         for class in march/*; do form+=(-F class=${class#*/}); for photo in $class/*; do form+=(-F photo=@$photo); done; done
         $R serve exact.model --port 0 > served 2>&1 & until url=$(grep -o 'http://[0-9.:]*' served); do sleep 0.05; done
         curl --silent --fail \"${form[@]}\" $url/v1/learn; sleep 0.$1; kill -s KILL $!; ! wait $!
         $R learn exact.model march || test $? = 2
         head() { $R show $1 --json | grep -o 'head_sha256[^,}]*'; }; test \"$(head exact.model)\" = \"$(head twin.model)\"",
    ),
];

/// What every accident begins with.
pub const ACCIDENT: &str = r#"set -e; begin() { exec $R learn "$@" --settings small.toml --seed 0 --memory 24 --threads 1; }
learn() { (begin "$@"); }
fails() { code=$1; shift; "$@" && return 9; test $? = $code; }; "#;

/// Settings of small sessions, of a run, and of a grid of two runs.
pub fn accident_files() -> [(&'static str, String); 3] {
    let longer = RUN.replace("epochs = 2", "epochs = 20");
    let grid = format!("[fixed]\n{longer}[axes]\nseed = [0, 1]\n");
    [("small.toml", LEARN.into()), ("run.toml", longer), ("grid.toml", grid)]
}

/// The soak: everything that keeps something from step to step is on.
pub const SOAK: &str = "method = 'pcr'\nretrieval = 'balanced'\nmemory = 500\nwidth = 8\ntasks = 5\nthreads = 1\n\
                        diagnostics = true\ntensorboard = true\ncheckpoint-minutes = 0.5\n";
pub const SOAK_STEPS_PER_EPOCH: f64 = 250.0;
