//! Every method on the stored features of a pre-trained backbone.

use std::sync::Arc;

use rehearsal::{
    Learner,
    config::{ConfigError, PartialConfig},
    datasets::{DataError, Image, ImageShape, InputShape, Source, Split, choice::Choice},
    experiment::{Experiment, ExperimentError, Outcome},
    learner::{LearnerError, Parts},
    methods::MethodKind,
    rng::{Rng, RngStream},
};
use rehearsal_runs::Record;

use crate::stop_after::StopAfter;

const FEATURES: usize = 24;
const CLASSES: usize = 6;
const PER_CLASS: usize = 40;

/// Classes that are clouds around points of their own; the mirror image of a sample is near it.
struct Clouds {
    names: Vec<String>,
    labels: Vec<u16>,
}

impl Clouds {
    fn source() -> Arc<dyn Source> {
        let names = (0..CLASSES).map(|class| format!("class {class}")).collect();
        let labels = (0..CLASSES * PER_CLASS).map(|index| (index / PER_CLASS) as u16).collect();
        Arc::new(Self { names, labels })
    }
}

impl Source for Clouds {
    fn shape(&self) -> ImageShape {
        self.input().image()
    }
    fn input(&self) -> InputShape {
        InputShape::Features { features: FEATURES }
    }
    fn class_names(&self) -> &[String] {
        &self.names
    }
    fn labels(&self, _: Split) -> &[u16] {
        &self.labels
    }
    fn image(&self, split: Split, index: usize) -> Result<Image, DataError> {
        let centre = &mut Rng::new(1, RngStream::Initialisation, &[u64::from(self.labels[index])]);
        let centre: Vec<f64> = (0..FEATURES).map(|_| centre.uniform(-1.5, 1.5)).collect();
        let noise = &mut Rng::new(2, RngStream::Initialisation, &[split as u64, index as u64]);
        let view = |_: usize| centre.iter().map(|mean| mean + noise.uniform(-0.7, 0.7)).collect::<Vec<f64>>();
        let values = (0..2).flat_map(view);
        Ok(values.flat_map(|value| ((4096.0 * value) as i16).to_le_bytes()).collect())
    }
    fn sha256(&self) -> &'static str {
        "clouds"
    }
}

fn settings(more: &str) -> PartialConfig {
    let base = "backbone = 'efficientnet-lite0'\ntasks = 3\nepochs = 3\nmemory = 30\ncandidates = 12\nlr = 0.5\n\
                gss-groups = 2\ngss-group-size = 5\nthreads = 2";
    PartialConfig::parse(base).unwrap().overridden_by(&PartialConfig::parse(more).unwrap())
}

fn begin(settings: &PartialConfig) -> Result<Experiment, ExperimentError> {
    Experiment::with_parts(settings, Clouds::source(), Parts::new())
}

fn finish(experiment: Experiment) -> (Box<Record>, Box<Learner>) {
    let Outcome::Finished(record, learner) = experiment.run(&mut ()).unwrap() else { panic!("stopped") };
    (record, learner)
}

fn accuracy(record: &Record) -> f64 {
    record.matrix.rows().last().map(|row| row.iter().sum::<f64>() / row.len() as f64).unwrap()
}

/// With a linear or cosine head, and with a hidden layer.
#[test]
fn every_method_learns_and_resumes_bit_for_bit() {
    for (index, &method) in MethodKind::ALL.iter().enumerate() {
        for hidden in [0, 8] {
            let settings = settings(&format!("method = '{method}'\nhidden = {hidden}"));
            let (record, whole) = finish(begin(&settings).unwrap());
            let found = accuracy(&record);
            // CLS-ER predicts with an average of thousands of steps.
            let forgets = matches!(method, MethodKind::FineTune | MethodKind::AGem | MethodKind::ClsEr);
            let enough = if forgets || hidden > 0 { 0.25 } else { 0.7 };
            assert!(found >= enough, "{method}, {hidden} hidden: {found}");
            let place = tempfile::tempdir().unwrap();
            let mut stopped = begin(&settings).unwrap();
            stopped.write_to(&place.path().join("run")).unwrap();
            let total = stopped.total_steps();
            let outcome = stopped.run(&mut StopAfter(1 + (7 * index as u64) % (total - 1))).unwrap();
            assert!(matches!(outcome, Outcome::Stopped));
            let resumed =
                Experiment::resume_with_parts(&place.path().join("run"), Clouds::source(), Parts::new()).unwrap();
            let (again, parted) = finish(resumed);
            assert_eq!(again.matrix, record.matrix, "{method}");
            let [a, b] = [&whole, &parted].map(|learner| {
                let path = place.path().join("learner");
                learner.save(&path).unwrap();
                std::fs::read(path).unwrap()
            });
            assert!(a == b, "{method}: not the same file");
        }
    }
}

/// A closed form has the same matrix after any order of steps, and forgets nothing of what it can tell apart.
#[test]
fn a_closed_form_takes_one_epoch() {
    let (record, learner) = finish(begin(&settings("method = 'gaussian'")).unwrap());
    assert_eq!(record.steps, (CLASSES * PER_CLASS / 10) as u64, "one epoch, whatever the settings say");
    assert!(accuracy(&record) > 0.95, "{:?}", record.matrix);
    assert!(learner.memory().is_empty());
}

#[test]
fn pixels_and_features_are_not_confused() {
    let refused = |settings: &str, source: Arc<dyn Source>| {
        let settings = PartialConfig::parse(settings).unwrap();
        match Experiment::with_parts(&settings, source, Parts::new()).err() {
            Some(ExperimentError::Learner(LearnerError::Config(error)) | ExperimentError::Refused(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let pixels = || rehearsal::datasets::Dataset::Embedded.open(&rehearsal::datasets::Request::default()).unwrap();
    let error = refused("backbone = 'efficientnet-lite0'", pixels());
    assert!(matches!(error, ConfigError::Input { is_pretrained: true, .. }), "{error}");
    let error = refused("backbone = 'tiny'\ntasks = 3", Clouds::source());
    assert!(matches!(error, ConfigError::Input { is_pretrained: false, .. }), "{error}");
    let error = refused("backbone = 'tiny'\nhidden = 3", pixels());
    assert!(matches!(error, ConfigError::Hidden(_)), "{error}");
}
