//! The page of runs: what it says of them, who may ask, and that nothing of a run changes.

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use rehearsal_data::ImageShape;
use rehearsal_runs::{RunDirectory, files};
use rehearsal_serve::{Live, Replay, Replayed, ReplayedFor, ServeError, Stop, Watch};
use serde_json::{Value, json};

use crate::client::{get, post, send};

struct Watching {
    address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Watching {
    fn of(directory: &Path, live: Option<Live>) -> Self {
        let watch = Watch::start(directory.to_owned(), 0, live).unwrap();
        let (address, stop) = (watch.address(), watch.stopper());
        Self { address, stop, thread: Some(thread::spawn(move || watch.run().unwrap())) }
    }

    fn runs(&self) -> Vec<Value> {
        get(self.address, "/v1/runs").json()["runs"].as_array().unwrap().clone()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take().filter(|_| !thread::panicking()) {
            thread.join().unwrap();
        }
    }
}

/// A run after its first task, which goes on until this is dropped.
fn begun(path: &Path) -> RunDirectory {
    let mut run = RunDirectory::create(path, "method = 'pcr'\nseed = 3\nthreads = 2\n").unwrap();
    for step in 1..=20 {
        let loss = 20.0 / f64::from(step);
        run.log(&json!({ "task": step / 11, "epoch": 0, "step": step, "loss": loss, "retrieved": 10, "memory": 40 }))
            .unwrap();
        if step == 10 {
            run.log(&json!({ "after_task": 0, "accuracy": [0.75], "seconds": 1.5 })).unwrap();
        }
    }
    run.log(&json!({ "after_task": 1, "accuracy": [0.5, 1.0], "seconds": 2.5 })).unwrap();
    run.write_diagnostics("{\"task\":1,\"class_mix\":[3,1],\"picks_high\":{\"task_age\":[0,3],\"class_mix\":[3,0]}}\n")
        .unwrap();
    run.sync_log().unwrap();
    run
}

/// Every file below a directory, with its content.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

#[test]
fn a_run_is_shown_as_far_as_it_is_and_is_not_changed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("my-run");
    let run = begun(&path);
    let before = contents(place.path());
    let watching = Watching::of(&path, None);
    let brief = &watching.runs()[0];
    assert_eq!((&brief["name"], &brief["state"], &brief["tasks"]), (&json!("my-run"), &json!("running"), &json!(2)));
    let detail = get(watching.address, "/v1/run?name=my-run").json();
    assert_eq!(detail["matrix"], json!([[0.75], [0.5, 1.0]]));
    assert_eq!(
        (&detail["accuracy"], &detail["forgetting"], &detail["steps"]),
        (&json!(0.75), &json!(0.25), &json!(20))
    );
    assert_eq!((&detail["loss"]["stride"], &detail["loss"]["means"][3]), (&json!(1), &json!(5.0)));
    assert_eq!(detail["settings"], json!({ "method": "pcr", "seed": 3 }));
    assert_eq!(detail["diagnostics"][0]["picks_high"]["class_mix"], json!([3, 0]));
    assert_eq!(get(watching.address, "/v1/replayed").json(), Value::Null, "another process has it");
    assert_eq!(contents(place.path()), before, "looking changes nothing");
    drop(run);
    assert_eq!(watching.runs()[0]["state"], "stopped");
    fs::write(path.join(files::RESULT), "{}").unwrap();
    assert_eq!(watching.runs()[0]["state"], "failed", "a result that is none");
}

#[test]
fn the_runs_of_a_grid_are_listed_also_those_that_wait() {
    let place = tempfile::tempdir().unwrap();
    let line = |index: usize, name: &str| {
        format!("{{\"index\":{index},\"name\":\"{name}\",\"settings\":{{\"seed\":{index}}}}}\n")
    };
    fs::write(place.path().join(files::MANIFEST), line(0, "seed0") + &line(1, "seed1") + &line(2, "seed2")).unwrap();
    drop(begun(&place.path().join("seed0")));
    fs::create_dir(place.path().join("logs")).unwrap();
    fs::write(place.path().join("logs/seed1.log"), "error: no luck\n").unwrap();
    drop(begun(&place.path().join("others/deep")));
    let watching = Watching::of(place.path(), None);
    let brief = |run: &Value| (run["name"].as_str().unwrap().to_owned(), run["state"].as_str().unwrap().to_owned());
    let runs: Vec<(String, String)> = watching.runs().iter().map(brief).collect();
    let expected = [("others/deep", "stopped"), ("seed0", "stopped"), ("seed1", "failed"), ("seed2", "waiting")];
    assert_eq!(runs, expected.map(|(name, state)| (name.to_owned(), state.to_owned())));
    assert_eq!(watching.runs()[2]["why"], "no luck");
    assert_eq!(get(watching.address, "/v1/run?name=seed2").json()["matrix"], json!([]));
}

#[test]
fn what_a_run_of_this_process_replays_is_shown_as_pictures() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    let _run = begun(&path);
    let live = Live::new(&["boots".to_owned(), "<b>".to_owned()], 100);
    let watching = Watching::of(&path, Some(live.clone()));
    assert_eq!(get(watching.address, "/v1/replayed").json(), Value::Null, "no step yet");
    let shape = ImageShape { height: 2, width: 3, channels: 1 };
    let photo = |side, class, pixels| Replayed { side, loss_change: Some(0.5), class, task: 0, pixels };
    let photos = vec![
        photo(Some(ReplayedFor::Conflicting), 0, Some(([0_u8; 6].into(), shape))),
        photo(Some(ReplayedFor::Aligned), 1, None),
        photo(None, 7, None),
    ];
    live.show(Replay { task: 1, step: 12, loss: Some(0.25), photos });
    let shown = get(watching.address, "/v1/replayed").json();
    assert_eq!((&shown["step"], &shown["total_steps"], &shown["loss"]), (&json!(12), &json!(100), &json!(0.25)));
    let photos = shown["photos"].as_array().unwrap();
    assert!(photos[0]["picture"].as_str().unwrap().starts_with("data:image/png;base64,iVBOR"));
    let brief: Vec<_> = photos.iter().map(|photo| (photo["side"].clone(), photo["class"].clone())).collect();
    assert_eq!(
        brief,
        [(json!("conflicting"), json!("boots")), (json!("aligned"), json!("<b>")), (Value::Null, json!("class 8"))]
    );
    assert_eq!(get(watching.address, "/v1/run?name=run").json()["classes"], json!(["boots", "<b>"]));
}

#[test]
fn only_this_machine_may_look_and_no_path_of_a_request_is_opened() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    drop(begun(&path));
    let watching = Watching::of(&path, None);
    let address = watching.address;
    assert!(address.ip().is_loopback());
    let page = get(address, "/");
    let policy = page.header("content-security-policy").unwrap();
    assert!(page.status == 200 && policy.contains("default-src 'self'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(get(address, "/watch.js").header("content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(send(address, "GET", "/v1/runs", &[("Host", "evil.example")], &[]).code(), "forbidden_host");
    for name in ["..", "../run", "%2e%2e%2frun", "/etc/passwd", "run/checkpoint", ""] {
        assert_eq!(get(address, &format!("/v1/run?name={name}")).status, 404, "{name}");
    }
    assert_eq!(get(address, "/v1/run").code(), "bad_request");
    assert_eq!(get(address, "/v1/model").status, 404);
    assert_eq!(post(address, "/v1/runs", "text/plain", b"x").code(), "method_not_allowed");
    assert_eq!(post(address, "/v1/runs", "text/plain", &[7; 5000]).code(), "too_large");
    assert!(matches!(Watch::start(place.path().join("none"), 0, None), Err(ServeError::NoDirectory(_))));
    assert!(matches!(Watch::start(path, address.port(), None), Err(ServeError::Address { .. })));
}
