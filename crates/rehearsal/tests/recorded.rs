//! Runs whose results are written down: what a change of structure must not change by a bit.
//!
//! Recorded on x86-64, with AVX2 and with AVX-512: vector units of another width round differently.
//! On other processors the test says that it is skipped. After a change that is meant to change
//! results, `REHEARSAL_RECORD=1 cargo test --release -p rehearsal --test recorded -- --nocapture`
//! prints the new digests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use rehearsal::{
    config::PartialConfig,
    datasets::{DataError, Dataset, Request, Source, Split},
    experiment::{Experiment, Outcome},
    learner::Parts,
    network::State,
    sample::{Image, ImageShape},
};
use sha2::{Digest, Sha256};

/// A few steps of every mechanism; each run adds its own.
const BASE: &str = "classes = 6\ntasks = 3\ntrain-per-class = 40\ntest-per-class = 50\nwidth = 4\nmemory = 50\n\
                    candidates = 12\ngss-groups = 3\ngss-group-size = 5\nthreads = 2";

/// The first digits of the SHA-256 of a run's `predictions.bin` and of its final network.
type Digests = (&'static str, &'static str);

/// A run, and its digests for each kind of vector unit.
struct Recorded {
    name: &'static str,
    settings: &'static str,
    avx2: Digests,
    avx512: Digests,
}

const RUNS: &[Recorded] = &[
    Recorded {
        name: "pcr balanced",
        settings: "",
        avx2: ("85d5d06d0f2ac698", "5f89744cef6ff57d"),
        avx512: ("f58cd8797769be00", "d4543f4d9cc60ef6"),
    },
    Recorded {
        name: "pcr two epochs, direct",
        settings: "epochs = 2\nkernels = 'direct'",
        avx2: ("a46f165f861bf8db", "c90e42a45d63cad4"),
        avx512: ("7e7105e89bb65463", "c2e81b1d3d07652b"),
    },
    Recorded {
        name: "pcr composed, first epoch offered",
        settings: "epochs = 2\nkernels = 'composed'\noffer = 'first-epoch'",
        avx2: ("eafd015288ac97b1", "ae3adc5d3ad7c631"),
        avx512: ("82ceed47ab2e987b", "94bc95abdf832273"),
    },
    Recorded {
        name: "er mir",
        settings: "method = 'er'\nretrieval = 'mir'",
        avx2: ("b77e7b069d3033eb", "7f22b651bf56de6a"),
        avx512: ("3245314b105b248a", "50bf9574728e5776"),
    },
    Recorded {
        name: "er memory-match, tiny",
        settings: "method = 'er'\nretrieval = 'memory-match'\nbackbone = 'tiny'",
        avx2: ("bdc7f554f776c733", "1e300cf5e576fa05"),
        avx512: ("bdc7f554f776c733", "1e300cf5e576fa05"),
    },
    Recorded {
        name: "er-ace imir, class-balanced",
        settings: "method = 'er-ace'\nretrieval = 'imir'\nmemory-policy = 'class-balanced'",
        avx2: ("2f2c1e71cab6b22a", "d66c5faf38de05d8"),
        avx512: ("cff7307718bc117b", "f66f99a870c5c0b0"),
    },
    Recorded {
        name: "der-pp balanced, gss",
        settings: "method = 'der-pp'\nmemory-policy = 'gss'",
        avx2: ("53c45281f18e0e51", "3f5245152a16446d"),
        avx512: ("9f6ef4baac38c0cd", "7986e8bc93a50139"),
    },
    Recorded {
        name: "cls-er balanced",
        settings: "method = 'cls-er'",
        avx2: ("2fdcc36c75812853", "67b4442b5c897f06"),
        avx512: ("e1a8942b6b13f7dd", "25b67a418e0110cb"),
    },
    Recorded {
        name: "a-gem random",
        settings: "method = 'a-gem'\nretrieval = 'random'",
        avx2: ("00dfb665180ee2d3", "dd6729b51d3d22e6"),
        avx512: ("ff166f53fae9af61", "e5c10feca6731459"),
    },
    Recorded {
        name: "aser",
        settings: "method = 'aser'",
        avx2: ("8e893ea4f3448f29", "d0ed8489d97f30db"),
        avx512: ("a6415a51c867a88b", "98fc966292a6b892"),
    },
    Recorded {
        name: "fine-tune",
        settings: "method = 'fine-tune'",
        avx2: ("248fc51da6482640", "4aa70f0c6a5a5f8b"),
        avx512: ("cfcf95c9c26be32b", "979f8d9627bc861e"),
    },
    Recorded {
        name: "joint",
        settings: "method = 'joint'",
        avx2: ("a6ca8dd35188941a", "eec95c3a6fd1e4e7"),
        avx512: ("41157cb9a6601841", "2ba79b786ce0eacf"),
    },
    Recorded {
        name: "pcr blurry, two epochs",
        settings: "stream = 'blurry'\nblur = 0.3\nepochs = 2\nscore-norm = 'eval'",
        avx2: ("2865343b4200a7bc", "f20fa8bee9b4019e"),
        avx512: ("9611413fb027275f", "55553021156271f2"),
    },
];

/// A stream of three domains, for which no data set at hand serves: see [`Dimmed`].
const DOMAINS: Recorded = Recorded {
    name: "pcr domain-incremental, tiny",
    settings: "stream = 'domain-incremental'\nbackbone = 'tiny'",
    avx2: ("6ed14658d57be15d", "aaf43786bfc1e213"),
    avx512: ("6ed14658d57be15d", "aaf43786bfc1e213"),
};

/// The embedded images in three domains: as they are, darker, darkest.
struct Dimmed {
    source: Arc<dyn Source>,
    domains: [Vec<u16>; 2],
}

impl Dimmed {
    fn new() -> Self {
        let source = Dataset::Embedded.open(&Request::default()).unwrap();
        let domains = |split| (0..source.labels(split).len()).map(|index| (index % 3) as u16).collect();
        Self { domains: Split::BOTH.map(domains), source }
    }
}

impl Source for Dimmed {
    fn shape(&self) -> ImageShape {
        self.source.shape()
    }
    fn class_names(&self) -> &[String] {
        self.source.class_names()
    }
    fn labels(&self, split: Split) -> &[u16] {
        self.source.labels(split)
    }
    fn image(&self, split: Split, index: usize) -> Result<Image, DataError> {
        let image = self.source.image(split, index)?;
        Ok(image.iter().map(|byte| byte / (1 + (index % 3) as u8)).collect())
    }
    fn sha256(&self) -> &str {
        self.source.sha256()
    }
    fn domains(&self, split: Split) -> &[u16] {
        &self.domains[split as usize]
    }
}

fn short(digest: &[u8]) -> String {
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn network_digest(state: &State) -> String {
    let mut digest = Sha256::new();
    for (name, array) in &state.0 {
        digest.update(name);
        array.values.iter().for_each(|value| digest.update(value.to_bits().to_le_bytes()));
    }
    short(&digest.finalize())
}

fn settings(more: &str) -> PartialConfig {
    PartialConfig::parse(BASE).unwrap().overridden_by(&PartialConfig::parse(more).unwrap())
}

/// The digests of a run.
fn run(mut experiment: Experiment) -> (String, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    experiment.write_to(&path).unwrap();
    let Outcome::Finished(_, learner) = experiment.run(&mut ()).unwrap() else { panic!("stopped") };
    let predictions = std::fs::read(path.join("predictions.bin")).unwrap();
    (short(&Sha256::digest(&predictions)), network_digest(&learner.network().state()))
}

/// The digests that were recorded on this kind of vector unit, which decides how sums are rounded.
fn recorded_here() -> Option<fn(&Recorded) -> Digests> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        return Some(|recorded| recorded.avx512);
    } else if is_x86_feature_detected!("avx2") {
        return Some(|recorded| recorded.avx2);
    }
    None
}

#[test]
fn recorded_runs_give_the_same_bits() {
    let Some(digests) = recorded_here() else {
        eprintln!("SKIPPED: the runs were recorded with AVX2 and AVX-512, and this processor has neither");
        return;
    };
    let recording = std::env::var_os("REHEARSAL_RECORD").is_some();
    let mut different = Vec::new();
    let mut compare = |recorded: &Recorded, experiment: Experiment| {
        let found = run(experiment);
        let line = format!("{}: predictions {}, network {}", recorded.name, found.0, found.1);
        if recording {
            println!("{line}");
        } else if (found.0.as_str(), found.1.as_str()) != digests(recorded) {
            different.push(line);
        }
    };
    for recorded in RUNS {
        compare(recorded, Experiment::new(&settings(recorded.settings), None).unwrap());
    }
    let settings = settings(DOMAINS.settings);
    compare(&DOMAINS, Experiment::with_parts(&settings, Arc::new(Dimmed::new()), Parts::new()).unwrap());
    assert!(different.is_empty(), "{different:#?}");
}
