//! Streams beyond the paper's: domains, blurred boundaries, chains, uneven tasks.

use std::{collections::BTreeSet, sync::Arc};

use rehearsal::{
    config::PartialConfig,
    datasets::{DataError, Source, Split},
    experiment::{Experiment, Outcome},
    learner::{Parts, Samples},
    sample::{Image, ImageShape, Sample, TaskId},
    stream::{ClassOrder, Plan, Stream, StreamError, StreamKind},
};

/// Images of one pixel: its red is the class, green the domain, blue a number.
struct Small {
    names: Vec<String>,
    domain_names: Vec<String>,
    images: [Vec<[u8; 3]>; 2],
    labels: [Vec<u16>; 2],
    domains: [Vec<u16>; 2],
    parts: Vec<usize>,
}

impl Small {
    /// `per` images of each class in each of the domains.
    fn new(classes: u8, train: &[u8], test: &[u8], per: u8) -> Self {
        let split = |domains: &[u8]| -> Vec<[u8; 3]> {
            let all = domains.iter().flat_map(|&domain| (0..classes).map(move |class| (class, domain)));
            all.flat_map(|(class, domain)| (0..per).map(move |number| [class, domain, number])).collect()
        };
        let images = [split(train), split(test)];
        Self {
            names: (0..classes).map(|class| format!("class {class}")).collect(),
            domain_names: (0..9).map(|domain| format!("domain {domain}")).collect(),
            labels: images.clone().map(|images| images.iter().map(|image| image[0].into()).collect()),
            domains: images.clone().map(|images| images.iter().map(|image| image[1].into()).collect()),
            images,
            parts: vec![usize::from(classes)],
        }
    }
}

impl Source for Small {
    fn shape(&self) -> ImageShape {
        ImageShape { height: 1, width: 1, channels: 3 }
    }
    fn class_names(&self) -> &[String] {
        &self.names
    }
    fn labels(&self, split: Split) -> &[u16] {
        &self.labels[split as usize]
    }
    fn image(&self, split: Split, index: usize) -> Result<Image, DataError> {
        Ok(self.images[split as usize][index].into())
    }
    fn sha256(&self) -> &'static str {
        "small"
    }
    fn domain_names(&self) -> &[String] {
        &self.domain_names
    }
    fn domains(&self, split: Split) -> &[u16] {
        &self.domains[split as usize]
    }
    fn parts(&self) -> Vec<usize> {
        self.parts.clone()
    }
}

fn plan(kind: StreamKind, tasks: usize) -> Plan {
    Plan {
        kind,
        blur: 0.0,
        task_classes: None,
        tasks,
        classes: None,
        class_order: ClassOrder::Seeded,
        train_per_class: None,
        test_per_class: None,
        batch: 1,
        seed: 3,
    }
}

fn train(stream: &Stream, task: TaskId) -> Vec<Sample> {
    let samples = stream.samples(task);
    (0..samples.len()).map(|index| samples.get(index).unwrap()).collect()
}

fn values(samples: &[Sample], channel: usize) -> BTreeSet<u8> {
    samples.iter().map(|sample| sample.image[channel]).collect()
}

#[test]
fn each_task_of_a_domain_incremental_stream_is_a_domain_with_every_class() {
    let source = Arc::new(Small::new(4, &[0, 2, 5], &[0, 2, 5], 6));
    let stream = Stream::new(source, &plan(StreamKind::DomainIncremental, 3)).unwrap();
    let mut domains = BTreeSet::new();
    for task in stream.tasks() {
        let (train, test) = (train(&stream, task), stream.test(task).unwrap());
        assert_eq!((train.len(), test.len(), stream.seen(task)), (24, 24, 4));
        assert_eq!((values(&train, 0).len(), values(&train, 1).len()), (4, 1));
        assert_eq!(values(&train, 1), values(&test, 1), "tested on the domain that was learnt");
        assert!(
            train
                .iter()
                .chain(&test)
                .all(|sample| { stream.class_names()[sample.label.index()] == format!("class {}", sample.image[0]) })
        );
        domains.extend(values(&train, 1));
    }
    assert_eq!(domains, BTreeSet::from([0, 2, 5]));
    let order = |seed| {
        let source = Arc::new(Small::new(4, &[0, 1, 2, 3, 4, 5, 6, 7], &[0], 6));
        let stream = Stream::new(source, &Plan { seed, ..plan(StreamKind::DomainIncremental, 8) }).unwrap();
        stream.tasks().flat_map(|task| values(&train(&stream, task), 1)).collect::<Vec<u8>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2), "the seed decides the order of domains");
}

/// As CORe50: test images are of other domains than training images.
#[test]
fn test_images_of_domains_of_their_own_are_dealt_out() {
    let source = Arc::new(Small::new(4, &[0, 1, 2], &[7, 8], 6));
    let stream = Stream::new(source, &plan(StreamKind::DomainIncremental, 3)).unwrap();
    let tests: Vec<Vec<Sample>> = stream.tasks().map(|task| stream.test(task).unwrap()).collect();
    assert!(tests.iter().all(|test| test.len() == 16 && values(test, 0).len() == 4));
    let all: BTreeSet<Image> = tests.iter().flatten().map(|sample| sample.image.clone()).collect();
    assert_eq!(all.len(), 48, "each test image belongs to one task");
    let capped = Plan { train_per_class: Some(2), ..plan(StreamKind::DomainIncremental, 3) };
    let stream = Stream::new(Arc::new(Small::new(4, &[0, 1, 2], &[7, 8], 6)), &capped).unwrap();
    assert!(stream.tasks().all(|task| train(&stream, task).len() == 8), "two of each class in each task");
}

#[test]
fn domains_that_do_not_fit() {
    let error = |source: Small, tasks| {
        Stream::new(Arc::new(source), &plan(StreamKind::DomainIncremental, tasks)).err().unwrap()
    };
    assert_eq!(error(Small::new(2, &[0, 1, 2], &[0], 3), 2), StreamError::Domains { domains: 3, tasks: 2 });
    let without = Small { domains: [vec![], vec![]], ..Small::new(2, &[0], &[0], 3) };
    assert_eq!(error(without, 1), StreamError::NoDomains);
}

#[test]
fn a_blurry_task_gets_as_much_as_it_gives() {
    let source = || Arc::new(Small::new(8, &[0], &[0], 100));
    let sharp = Stream::new(source(), &plan(StreamKind::ClassIncremental, 4)).unwrap();
    let blurred = Stream::new(source(), &Plan { blur: 0.1, ..plan(StreamKind::Blurry, 4) }).unwrap();
    let mut all = BTreeSet::new();
    for task in blurred.tasks() {
        let own = values(&train(&sharp, task), 0);
        let samples = train(&blurred, task);
        let foreign = samples.iter().filter(|sample| !own.contains(&sample.image[0])).count();
        assert_eq!((samples.len(), foreign), (200, 20), "a tenth comes from other tasks");
        assert!(samples.iter().all(|sample| sample.task == task && sample.label.index() < blurred.seen(task)));
        assert_eq!(sharp.test(task).unwrap(), blurred.test(task).unwrap(), "tests are sharp");
        all.extend(samples.into_iter().map(|sample| sample.image));
    }
    assert_eq!(all.len(), 800, "nothing is lost and nothing comes twice");
    assert_eq!(blurred.class_names(), sharp.class_names());
    let none = Stream::new(source(), &plan(StreamKind::Blurry, 4)).unwrap();
    assert!(none.tasks().all(|task| train(&none, task) == train(&sharp, task)), "no blur is no blur");
    assert_eq!(Stream::new(source(), &plan(StreamKind::Blurry, 1)).err().unwrap(), StreamError::Alone);
}

#[test]
fn tasks_that_the_user_lists_may_be_uneven() {
    let listed = |classes: &[&[usize]]| Plan {
        task_classes: Some(
            classes.iter().map(|task| task.iter().map(|class| format!("class {class}")).collect()).collect(),
        ),
        ..plan(StreamKind::ClassIncremental, 99)
    };
    let stream = |plan: &Plan| Stream::new(Arc::new(Small::new(5, &[0], &[0], 4)), plan);
    let uneven = stream(&listed(&[&[4, 1], &[0], &[2]])).unwrap();
    assert_eq!(uneven.class_names(), ["class 4", "class 1", "class 0", "class 2"], "class 3 is not used");
    assert_eq!(uneven.tasks().map(|task| uneven.seen(task)).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!(uneven.tasks().map(|task| uneven.batches(task)).collect::<Vec<_>>(), [8, 4, 4]);
    assert!(
        stream(&listed(&[&[4], &[5]]))
            .err()
            .unwrap()
            .to_string()
            .contains("`class 5`, which the data set does not have")
    );
    assert!(stream(&listed(&[&[4], &[4]])).err().unwrap().to_string().contains("`class 4` is there twice"));
    assert!(stream(&listed(&[&[4], &[]])).is_err());
    assert!(stream(&listed(&[])).is_err());
}

#[test]
fn in_a_chain_the_first_data_sets_classes_come_first() {
    for seed in 0..5 {
        let source = Arc::new(Small { parts: vec![4, 6], ..Small::new(10, &[0], &[0], 3) });
        let stream = Stream::new(source, &Plan { seed, ..plan(StreamKind::ClassIncremental, 5) }).unwrap();
        let first: BTreeSet<u8> =
            [TaskId(0), TaskId(1)].iter().flat_map(|&task| values(&train(&stream, task), 0)).collect();
        assert_eq!(first, (0..4).collect(), "seed {seed}");
    }
}

/// Tested tasks, steps, test images and classes of a run, and the size of what its learner sees.
fn run(toml: &str) -> (usize, u64, usize, usize, usize) {
    let settings = PartialConfig::parse(&format!(
        "backbone = 'tiny'\nwidth = 8\ntrain-per-class = 30\ntest-per-class = 10\n{toml}"
    ))
    .unwrap();
    match Experiment::new(&settings, None).unwrap().run(&mut ()).unwrap() {
        Outcome::Finished(record, learner) => {
            let tasks = record.matrix.tasks_seen();
            (tasks, record.steps, record.test_images, learner.classes().seen(), learner.shape().height)
        }
        Outcome::Stopped => panic!("stopped"),
    }
}

#[test]
fn whole_runs_of_the_new_streams() {
    assert_eq!(run("stream = 'blurry'\nblur = 0.2"), (5, 30, 100, 10, 28));
    let listed = "task-classes = [['bag', 'coat', 'dress'], ['shirt']]";
    assert_eq!(run(listed), (2, 12, 40, 4, 28));
    assert_eq!(run("size = 16"), (5, 30, 100, 10, 16));
    assert_eq!(run("method = 'joint'\nstream = 'blurry'"), (1, 150, 100, 10, 28), "five epochs of all");
    assert_eq!(run(&format!("method = 'joint'\n{listed}")), (1, 24, 40, 4, 28), "two epochs of all");
}

/// The red of an image is its class in every domain, so what is known after the first domain is all there is to know.
#[test]
fn what_is_known_of_the_next_domain_is_forward_transfer() {
    let settings = PartialConfig::parse(
        "stream = 'domain-incremental'\ntasks = 3\nmethod = 'ncm'\nbackbone = 'pixels'\nbatch = 2",
    );
    let source = Arc::new(Small::new(4, &[0, 1, 2], &[0, 1, 2], 4));
    let experiment = Experiment::with_parts(&settings.unwrap(), source, Parts::new()).unwrap();
    let Outcome::Finished(record, _) = experiment.run(&mut ()).unwrap() else { panic!("stopped") };
    assert_eq!((record.accuracy, record.forward_transfer), (Some(1.0), Some(0.75)), "guessing gets a quarter");
}

#[test]
fn settings_that_do_not_go_together() {
    let refusal =
        |toml: &str| PartialConfig::parse(toml).and_then(|settings| settings.resolve()).unwrap_err().to_string();
    assert!(refusal("blur = 0.5").contains("`blur` is for"));
    assert!(refusal("stream = 'blurry'\nblur = 1.5").contains("between 0 and 1"));
    assert!(refusal("tasks = 3\ntask-classes = [['bag']]").contains("leave out one of them"));
    assert!(refusal("stream = 'domain-incremental'\ntask-classes = [['bag']]").contains("every task has every class"));
    assert!(refusal("stream = 'blury'").contains("did you mean `blurry`"));
    assert!(refusal("size = 0").contains("`size` must be between 1 and 1024"));
    assert!(refusal("dataset = 'cifar10+cifr100'").contains("did you mean `cifar100`"));
    let error = Experiment::new(&PartialConfig::parse("stream = 'domain-incremental'").unwrap(), None).err().unwrap();
    assert!(error.to_string().contains("has no domains"), "{error}");
    let twice = PartialConfig::parse("dataset = 'embedded+embedded'").unwrap();
    let error = Experiment::new(&twice, None).err().unwrap();
    assert!(error.to_string().contains("embedded is named twice"), "{error}");
}

#[test]
fn new_settings_are_an_experiment_file_that_resolves_to_itself() {
    for text in [
        "stream = 'blurry'",
        "stream = 'domain-incremental'\ndataset = 'core50'",
        "task-classes = [['bag'], ['coat', 'dress']]",
        "dataset = 'cifar10+fashion-mnist'\nsize = 32\nskip-bad = true",
    ] {
        let config = PartialConfig::parse(text).unwrap().resolve().unwrap();
        let written = toml::to_string(&config).unwrap();
        assert_eq!(PartialConfig::parse(&written).unwrap().resolve().unwrap(), config, "{written}");
    }
    let default = toml::to_string(&PartialConfig::default().resolve().unwrap()).unwrap();
    for key in ["stream", "blur", "task-classes", "size", "skip-bad"] {
        assert!(
            !default.lines().any(|line| line.starts_with(&format!("{key} ="))),
            "{key} is the default and left out"
        );
    }
}
