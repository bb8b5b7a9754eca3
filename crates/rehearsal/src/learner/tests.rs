use std::ops::ControlFlow;

use super::{replay::stored_logits, *};
use crate::{
    config::PartialConfig,
    methods::{ClsEr, ClsErOptions, Er, Reduction},
    network::State,
    observer::{Observer, StepEvent},
    probe::Probe,
    sample::{Class, Image, Slot, to_tensor},
    views::Views,
};

const SHAPE: ImageShape = ImageShape { height: 8, width: 8, channels: 3 };
const CLASSES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A small learner that knows of six classes, of which two have appeared.
fn learner(settings: &str) -> Learner {
    let base = "backbone = 'tiny'\nwidth = 4\nkernels = 'composed'\nthreads = 1\nmemory = 10\nretrieved = 4\n\
                candidates = 8\nviews = 'both'\noffer = 'every-epoch'\nmemory-policy = 'reservoir'";
    let settings = PartialConfig::parse(base).unwrap().overridden_by(&PartialConfig::parse(settings).unwrap());
    let mut learner = Learner::builder().shape(SHAPE).settings(&settings).classes(&CLASSES).build().unwrap();
    learner.begin_task(&CLASSES[..2]).unwrap();
    learner
}

fn samples(labels: &[u16]) -> Vec<Sample> {
    let image = |label: &u16| (0..SHAPE.bytes()).map(|i| ((i * (usize::from(*label) + 3)) % 256) as u8).collect();
    labels.iter().map(|label| Sample { image: image(label), label: Class(*label), task: TaskId(0) }).collect()
}

/// Of them, how many were replayed.
fn replayed(step: &Step) -> usize {
    step.replayed.iter().map(Vec::len).sum()
}

fn moved(before: &State, after: &State) -> (bool, bool) {
    let moved = |running: bool| {
        before.0.iter().any(|(name, array)| name.contains("running") == running && after.0[name] != *array)
    };
    (moved(false), moved(true))
}

#[test]
fn pcr_without_memory_moves_only_the_running_statistics() {
    let mut learner = learner("offer = 'first-epoch'");
    let before = learner.network().state();
    let step = learner.step(&samples(&[0, 1, 0, 1])).unwrap();
    assert!(step.loss.is_none() && replayed(&step) == 0);
    assert_eq!(moved(&before, &learner.network().state()), (false, true));
    assert_eq!(learner.memory().len(), 4, "the step's samples are inserted all the same");
    let before = learner.network().state();
    learner.cursor.epoch = 1;
    let step = learner.step(&samples(&[0, 1, 1, 0])).unwrap();
    assert!(step.loss.is_some() && replayed(&step) == 4);
    assert_eq!(moved(&before, &learner.network().state()), (true, true));
    assert_eq!((learner.memory().len(), learner.cursor().steps), (4, 2), "not inserted: not stored");
}

#[test]
fn er_without_memory_steps_on_the_new_samples_and_joins_losses_as_told() {
    let loss = |reduction: &str| {
        let mut learner = learner(&format!("method = 'er'\nreduction = '{reduction}'"));
        let first = learner.step(&samples(&[0, 1, 0, 1])).unwrap().loss.unwrap();
        (first, learner.step(&samples(&[0, 1, 1, 0])).unwrap().loss.unwrap())
    };
    let (mean, sum) = (loss("mean"), loss("sum-of-means"));
    assert!((mean.0 - sum.0).abs() < 1e-6, "the same without replay");
    assert!((2.0 * mean.1 - sum.1).abs() < 1e-5, "as many new as replayed: the sum of means is twice the mean");
}

#[test]
fn both_views_are_all_raw_images_then_all_augmented_ones() {
    let samples = samples(&[4, 5]);
    let key = AugmentationKey { seed: 0, what: RngStream::Augmentation, step: 7, before: 0 };
    let views = Views::Both.apply(&samples, SHAPE.into(), key, &Device::flex());
    assert_eq!(views.labels, [4, 5, 4, 5].map(Class));
    let raw = to_tensor(samples.iter().map(|sample| &*sample.image), SHAPE, &Device::flex());
    let values = |tensor: Tensor<4>| tensor.into_data().try_to_vec::<f32>().unwrap();
    assert_eq!(values(views.images.clone().narrow(0, 0, 2)), values(raw));
    let augmented = Views::Augmented.apply(&samples, SHAPE.into(), key, &Device::flex());
    assert_eq!(values(views.images.narrow(0, 2, 2)), values(augmented.images.clone()));
    let second =
        Views::Augmented.apply(&samples[1..], SHAPE.into(), AugmentationKey { before: 1, ..key }, &Device::flex());
    assert_eq!(values(augmented.images.narrow(0, 1, 1)), values(second.images), "views go by the place in the step");
}

#[test]
fn only_classes_that_have_appeared_are_predicted() {
    let mut learner = learner("method = 'er'");
    let mut state = learner.network().state();
    state.0.get_mut("head.bias").unwrap().values[5] = 100.0;
    learner.network.load(&state).unwrap();
    let samples = samples(&[0, 1, 2]);
    assert!(learner.classify(&samples).unwrap().iter().all(|class| class.0 < 2));
    learner.begin_task(&CLASSES).unwrap();
    assert_eq!(learner.classify(&samples).unwrap(), [Class(5); 3]);
}

#[test]
fn a_gem_and_er_ace_replay_from_the_second_task_on_and_er_ace_from_the_first_if_told() {
    let retrieved = |settings: &str| {
        let mut learner = learner(&format!("{settings}\nretrieval = 'random'"));
        learner.step(&samples(&[0, 1, 0, 1])).unwrap();
        let first = replayed(&learner.step(&samples(&[0, 1, 1, 0])).unwrap());
        learner.end_task();
        (first, replayed(&learner.step(&samples(&[0, 1, 1, 0])).unwrap()))
    };
    assert_eq!(retrieved("method = 'a-gem'"), (0, 4));
    assert_eq!(retrieved("method = 'er-ace'"), (0, 4));
    assert_eq!(retrieved("method = 'er-ace'\ntask-free = true"), (4, 4));
    assert_eq!(retrieved("method = 'der-pp'"), (8, 8), "two draws");
}

#[test]
fn the_methods_predictor_predicts() {
    let mut learner = learner("method = 'cls-er'");
    let mut averaged = learner.method.state();
    averaged.0.get_mut("stable.head.bias").unwrap().values[1] = 100.0;
    learner.method.load(&averaged).unwrap();
    assert_eq!(learner.classify(&samples(&[0, 1])).unwrap(), [Class(1); 2], "the stable network's favourite");
}

#[test]
fn logits_are_stored_with_their_samples_and_come_back_for_every_view() {
    let samples = samples(&[0, 1]);
    let logits = Tensor::<2>::from_data([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], &Device::flex());
    let mut memory = Memory::new(2);
    for (slot, sample) in to_memorize(&samples, Some(logits)).into_iter().enumerate() {
        memory.place(sample, Some(Slot(slot)));
    }
    let rows = stored_logits(&memory, &[Slot(1), Slot(0)], 4, &Device::flex()).unwrap();
    let rows = rows.into_data().try_to_vec::<f32>().unwrap();
    assert_eq!(rows, [7.0, 8.0, 5.0, 6.0, 7.0, 8.0, 5.0, 6.0], "of the augmented views, the last two");
    memory.place(samples[0].clone().into(), Some(Slot(0)));
    assert!(stored_logits(&memory, &[Slot(1), Slot(0)], 2, &Device::flex()).is_none());
}

/// Every number of a learner, and its memory.
fn everything(learner: &Learner) -> (State, State, State, Memory, Cursor) {
    let optimizer = learner.optimizer.state(&learner.network);
    (learner.network.state(), learner.method.state(), optimizer, learner.memory.clone(), learner.cursor)
}

/// Images of noise that their class colours, with names.
fn photos(names: &[&str], each: usize) -> (Vec<Image>, Vec<String>) {
    let labels: Vec<String> = names.iter().flat_map(|name| vec![(*name).to_owned(); each]).collect();
    let image = |(index, label): (usize, &String)| {
        let tint = usize::from(label.as_bytes()[0]) * 83;
        (0..SHAPE.bytes()).map(|i| ((i * (index + 7) * 31 + tint * (i % 3 + 1)) % 256) as u8).collect()
    };
    (labels.iter().enumerate().map(image).collect(), labels)
}

const GROWING: [&str; 6] = [
    "method = 'pcr'",
    "method = 'er'\nmomentum = 0.9\nweight-decay = 0.001\nschedule = 'cosine'",
    "method = 'der-pp'",
    "method = 'cls-er'",
    "method = 'aser'\nmemory-policy = 'aser'",
    "method = 'er-ace'\nmemory-policy = 'gss'",
];

fn empty(settings: &str) -> Learner {
    let base = "backbone = 'tiny'\nwidth = 4\nthreads = 1\nmemory = 12\nretrieved = 4\ncandidates = 8\nbatch = 4\nepochs = 2\n\
         offer = 'every-epoch'\nmemory-policy = 'reservoir'\nschedule = 'constant'";
    let settings = PartialConfig::parse(base).unwrap().overridden_by(&PartialConfig::parse(settings).unwrap());
    Learner::builder().shape(SHAPE).settings(&settings).build().unwrap()
}

#[test]
fn a_learner_grows_with_every_method_and_saving_it_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    for settings in GROWING {
        let mut whole = empty(settings);
        let (first, second) = (photos(&["boots", "clogs", "sandals"], 5), photos(&["loafers", "boots", "mules"], 5));
        whole.learn_task(&first.0, &first.1).unwrap();
        assert_eq!((whole.classes().seen(), whole.network().classes()), (3, 3), "{settings}");
        let path = place.path().join("model.safetensors");
        whole.save(&path).unwrap();
        let mut parted = Learner::load(&path).unwrap();
        assert_eq!(everything(&parted), everything(&whole), "{settings}");
        for learner in [&mut whole, &mut parted] {
            learner.learn_task(&second.0, &second.1).unwrap();
            learner.learn_batch(&photos(&["zori"], 2).0, &["zori", "zori"]).unwrap();
        }
        assert_eq!(bits(&parted), bits(&whole), "{settings}");
        let names: Vec<&str> = whole.classes().names().iter().map(|name| &**name).collect();
        assert_eq!(names, ["boots", "clogs", "sandals", "loafers", "mules", "zori"]);
        assert_eq!(parted.predict(&first.0).unwrap(), whole.predict(&first.0).unwrap());
        let total: f32 = whole.predict(&first.0[..1]).unwrap()[0].others.iter().map(|(_, p)| p).sum();
        assert!((total + whole.predict(&first.0[..1]).unwrap()[0].probability - 1.0).abs() < 1e-5);
    }
}

/// As [`everything`], comparable where stored logits are NaN.
fn bits(learner: &Learner) -> String {
    format!("{:?}", everything(learner))
}

#[test]
fn a_row_does_not_depend_on_when_or_with_how_many_others_it_came() {
    let rows = |batches: &[&[&str]]| {
        let mut learner = empty("");
        for names in batches {
            learner.begin_task(names).unwrap();
        }
        learner.network().state().0["head.proxies"].clone()
    };
    assert_eq!(rows(&[&["a"], &["b", "c"], &["d"]]), rows(&[&["a", "b", "c", "d"]]));
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut learner = empty("");
    let (images, labels) = photos(&["boots", "clogs"], 3);
    let error = |result: Result<Fit, LearnerError>| result.err().unwrap().to_string();
    assert_eq!(error(learner.learn_task(&images, &labels[1..])), "6 images, but 5 labels");
    assert_eq!(error(learner.learn_task::<&str>(&[], &[])), "there are no images to learn from");
    let small = Image::from(vec![0; 5]);
    assert_eq!(
        error(learner.learn_task(&[images[0].clone(), small.clone()], &labels[..2])),
        "image 1 has 5 bytes; this learner's images are 8×8 with 3 channels, 192 bytes"
    );
    assert_eq!((learner.classes().len(), learner.cursor()), (0, Cursor::default()));
    assert_eq!(learner.predict(&images).unwrap_err().to_string(), "no class has been learned yet");
    learner.learn_task(&images, &labels).unwrap();
    assert!(learner.predict(&[small]).is_err());
}

#[test]
fn many_threads_predict_while_a_clone_learns() {
    let mut learner = empty("backbone = 'resnet18'");
    let (images, labels) = photos(&["boots", "clogs"], 6);
    learner.learn_task(&images, &labels).unwrap();
    let expected = learner.predict(&images).unwrap();
    let mut clone = learner.clone();
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..3).map(|_| scope.spawn(|| learner.predict(&images).unwrap())).collect();
        scope.spawn(|| clone.learn_task(&images, &labels).unwrap());
        for asked in asking {
            assert_eq!(asked.join().unwrap(), expected);
        }
    });
    assert_ne!(clone.network().state(), learner.network().state());
    assert_eq!(learner.predict(&images).unwrap(), expected, "the clone went its own way");
}

#[test]
fn a_custom_retrieval_is_told_how_many_to_return() {
    struct First;
    impl Retrieval for First {
        fn retrieve(&self, count: usize, memory: &Memory, _: &mut dyn Probe, _: &mut Rng) -> Vec<Retrieved> {
            (0..memory.len()).take(count).map(|slot| Slot(slot).into()).collect()
        }
    }
    let settings = PartialConfig::parse("backbone = 'tiny'\nwidth = 4\nretrieved = 3").unwrap();
    let parts = Parts::new().retrieval("first", First);
    let mut learner = Learner::builder().shape(SHAPE).settings(&settings).parts(parts).build().unwrap();
    let (images, labels) = photos(&["boots", "clogs"], 6);
    learner.learn_batch(&images, &labels).unwrap();
    let step = learner.learn_batch(&images, &labels).unwrap();
    assert_eq!(replayed(&step), 3, "the setting `retrieved`");
}

#[test]
fn parts_of_ones_own_are_asked_for_by_name() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model.safetensors");
    let parts = || Parts::new().method("mine", Er { reduction: Reduction::SumOfMeans });
    let mut learner = Learner::builder().shape(SHAPE).backbone(crate::network::BackboneKind::Tiny);
    learner = learner.width(4).parts(parts());
    let mut learner = learner.build().unwrap();
    let (images, labels) = photos(&["boots", "clogs"], 6);
    learner.learn_task(&images, &labels).unwrap();
    learner.save(&path).unwrap();
    let error = Learner::load(&path).err().unwrap().to_string();
    assert!(error.contains("should be mine") && error.contains("`Learner::load_with`"), "{error}");
    let loaded = Learner::load_with(&path, parts()).unwrap();
    assert_eq!(loaded.predict(&images).unwrap(), learner.predict(&images).unwrap());
    let options = ClsErOptions {
        consistency: 0.1,
        stable_frequency: 0.7,
        stable_alpha: 0.999,
        plastic_frequency: 0.9,
        plastic_alpha: 0.999,
    };
    assert!(Learner::load_with(&path, Parts::new().method("mine", ClsEr::new(options))).is_err());
}

#[test]
fn a_flipped_bit_anywhere_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model.safetensors");
    let mut learner = empty("width = 1\nmethod = 'der-pp'");
    let (images, labels) = photos(&["boots", "clogs"], 3);
    learner.learn_task(&images, &labels).unwrap();
    learner.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    // Every byte of the header and the first of the data, and every 7th after them; another bit each.
    for index in (0..bytes.len()).filter(|index| *index < 6000 || index % 7 == 0) {
        let mut damaged = bytes.clone();
        damaged[index] ^= 1 << (index % 8);
        std::fs::write(&path, &damaged).unwrap();
        let error = Learner::load(&path).err().unwrap_or_else(|| panic!("byte {index} was believed"));
        assert!(error.to_string().starts_with(&path.display().to_string()), "{index}: {error}");
    }
    for length in (0..bytes.len()).step_by(bytes.len() / 50) {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert!(Learner::load(&path).is_err(), "{length} bytes");
    }
    std::fs::write(&path, [&bytes[..], b"x"].concat()).unwrap();
    assert!(Learner::load(&path).is_err(), "a byte too many");
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(bits(&Learner::load(&path).unwrap()), bits(&learner));
}

#[test]
fn the_same_learner_is_saved_as_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    let save = |name: &str| {
        let mut learner = empty("method = 'cls-er'");
        let (images, labels) = photos(&["boots", "clogs"], 3);
        learner.learn_task(&images, &labels).unwrap();
        learner.save(place.path().join(name)).unwrap();
        std::fs::read(place.path().join(name)).unwrap()
    };
    assert!(save("a") == save("b"));
}

#[test]
fn other_formats_and_other_files_are_refused_by_name() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model.safetensors");
    let header = |text: &str| {
        let json = serde_json::json!({ "__metadata__": { "rehearsal": text } }).to_string();
        [&(json.len() as u64).to_le_bytes()[..], json.as_bytes()].concat()
    };
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = Learner::load(&path).err().unwrap().to_string();
        error.replace(&path.display().to_string(), "FILE")
    };
    assert_eq!(
        refused(&header(r#"{"format":4,"capacity":30}"#)),
        "FILE has format 4; this program reads format 6: use the version that wrote it"
    );
    assert_eq!(refused(b"{}"), "FILE is not a model of Rehearsal: it is too short");
    assert_eq!(
        refused(b"a text of some length"),
        "FILE is not a model of Rehearsal: it does not begin as a safetensors file does"
    );
    let foreign = [&2u64.to_le_bytes()[..], b"{}"].concat();
    assert_eq!(refused(&foreign), "FILE is not a model of Rehearsal: it was not written by Rehearsal");
    assert!(Learner::load(place.path()).err().unwrap().to_string().contains("it is not a regular file"));
    if cfg!(unix) {
        let pipe = place.path().join("pipe.safetensors");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(Learner::load(&pipe).err().unwrap().to_string().contains("it is not a regular file"));
    }
    assert!(Learner::load(place.path().join("none")).err().unwrap().to_string().contains("cannot be read"));
}

#[test]
fn what_a_program_adds_is_under_the_checksum_and_a_plain_load_takes_no_notice() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model.safetensors");
    let mut learner = empty("method = 'er'");
    let (images, labels) = photos(&["boots", "clogs"], 3);
    learner.learn_task(&images, &labels).unwrap();
    let array = ExtraArray { shape: vec![2, 3], bytes: (1..7).collect() };
    let arrays = [("exam".to_owned(), array)].into_iter().collect();
    let extra = Extra { header: serde_json::json!({ "kept": [1, 2] }), arrays };
    learner.save_with_extra(&path, &extra).unwrap();
    let loaded = Learner::load_with_extra(&path, 1).unwrap();
    assert_eq!((loaded.extra.as_ref(), bits(&loaded.learner)), (Some(&extra), bits(&learner)));
    assert_eq!(bits(&Learner::load(&path).unwrap()), bits(&learner));
    let mut bytes = std::fs::read(&path).unwrap();
    assert!(String::from_utf8_lossy(&bytes).contains(&loaded.sha256));
    let at = bytes.windows(6).position(|window| window == [1, 2, 3, 4, 5, 6]).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert!(Learner::load(&path).is_err());
    learner.save(&path).unwrap();
    assert!(Learner::load_with_extra(&path, 1).unwrap().extra.is_none());
}

#[test]
fn a_retired_class_is_predicted_no_more_and_a_forgotten_sample_leaves_room() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model.safetensors");
    let mut learner = empty("memory = 8\nmemory-policy = 'reservoir'");
    let (images, labels) = photos(&["boots", "clogs", "loafers"], 3);
    learner.learn_task(&images, &labels).unwrap();
    learner.rename_class("boots", "wellingtons").unwrap();
    assert!(learner.rename_class("boots", "x").is_err() && learner.rename_class("clogs", "loafers").is_err());
    learner.retire_class("clogs").unwrap();
    assert!(learner.retire_class("clogs").is_err(), "it is gone");
    assert!(learner.memory().slots().iter().all(|stored| stored.sample.label != Class(1)));
    learner.save(&path).unwrap();
    let mut learner = Learner::load(&path).unwrap();
    for prediction in learner.predict(&images).unwrap() {
        let others = prediction.others.iter().map(|(class, _)| class);
        let classes: Vec<&str> = std::iter::once(&prediction.class).chain(others).map(|class| &**class).collect();
        assert!(classes.len() == 2 && !classes.contains(&"clogs"), "{classes:?}");
        assert!((prediction.probability + prediction.others[0].1 - 1.0).abs() < 1e-6);
    }
    let stored = learner.memory().len();
    assert!(stored < 8 && learner.memory().samples_seen() > 8, "a reservoir with free slots after it was full");
    let (more, names) = photos(&["sneakers", "clogs"], 30);
    learner.learn_task(&more, &names).unwrap();
    assert_eq!(learner.memory().len(), 8);
    assert_eq!(learner.classes().retired().count(), 0, "clogs came again");
    learner.set_memory(3).unwrap();
    learner.save(&path).unwrap();
    assert_eq!(Learner::load(&path).unwrap().memory(), learner.memory());
    assert_eq!((learner.memory().len(), learner.config().replay.memory), (3, 3));
    assert!(learner.set_memory(0).is_err(), "a method that replays");
}

/// Sees every step, and stops after some of them.
#[derive(Default)]
struct Watching {
    before: Vec<u64>,
    steps: Vec<(u64, u64, usize, Option<f32>)>,
    stop_after: Vec<u64>,
}

impl Observer for Watching {
    fn before_step(&mut self, learner: &Learner) {
        self.before.push(learner.cursor().steps);
    }

    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        assert_eq!((event.step, event.loss), (event.learner.cursor().steps, event.taken.loss));
        assert_eq!((event.epochs, event.task_steps), (2, 4), "ten images in batches of four, twice");
        self.steps.push((event.step, event.task_step, event.epoch, event.loss));
        if self.stop_after.contains(&event.step) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn an_observer_sees_every_step_and_a_fit_that_it_stops_is_continued_to_the_same_bits() {
    for settings in GROWING.iter().map(|settings| format!("{settings}\noffer = 'first-epoch'")) {
        let (first, second) = (photos(&["boots", "clogs"], 5), photos(&["mules", "boots"], 5));
        let learn = |stop_after: &[u64]| {
            let mut observer = Watching { stop_after: stop_after.to_vec(), ..Watching::default() };
            let mut learner = empty(&settings);
            let mut stops = 0;
            for (images, labels) in [&first, &second] {
                let samples = learner.samples(images, labels).unwrap();
                while learner.fit(&samples, FitOptions::default(), &mut observer).unwrap().is_stopped {
                    stops += 1;
                }
            }
            (bits(&learner), learner.cursor(), observer, stops)
        };
        let (whole, cursor, seen, _) = learn(&[]);
        assert_eq!(cursor, Cursor { task: 2, epoch: 0, batch: 0, steps: 8 });
        assert_eq!(seen.before, (0..8).collect::<Vec<u64>>(), "{settings}");
        let places: Vec<(u64, u64, usize)> =
            seen.steps.iter().map(|&(step, of_task, epoch, _)| (step, of_task, epoch)).collect();
        assert_eq!(places[..5], [(1, 1, 0), (2, 2, 0), (3, 3, 1), (4, 4, 1), (5, 1, 0)]);
        for stop_after in [&[1][..], &[2, 3], &[4], &[4, 6, 8]] {
            let (parted, _, again, stops) = learn(stop_after);
            assert_eq!((stops, again.steps), (stop_after.len(), seen.steps.clone()), "{settings}");
            assert_eq!(parted, whole, "{settings} stopped after {stop_after:?}");
        }
    }
}

#[test]
fn a_fit_that_diverges_is_an_error_and_changes_nothing() {
    let mut learner = empty("method = 'er'\nbackbone = 'pixels'\nlr = 0.01");
    let (images, labels) = photos(&["boots", "clogs"], 5);
    learner.learn_task(&images, &labels).unwrap();
    let before = bits(&learner);
    learner.set_pace(Pace { epochs: Some(2), lr: 1e38, schedule: crate::optimizer::Schedule::Constant }).unwrap();
    let (images, labels) = photos(&["mules", "boots"], 5);
    let error = learner.learn_task(&images, &labels).unwrap_err();
    assert!(matches!(error, LearnerError::Diverged { step: 5.., task: 2, .. }), "{error}");
    assert_eq!((bits(&learner), learner.classes().seen()), (before, 2), "mules are not known either");
}

#[test]
fn samples_that_do_not_fit_are_an_error_wherever_they_come() {
    let mut learner = learner("");
    let small = vec![Sample { image: vec![0; 5].into(), ..samples(&[0])[0].clone() }];
    let unknown = samples(&[0, 2]);
    assert!(matches!(learner.step(&small), Err(LearnerError::ImageSize { .. })));
    assert!(matches!(learner.classify(&small), Err(LearnerError::ImageSize { .. })));
    assert!(matches!(learner.step(&unknown), Err(LearnerError::UnknownClass { class: Class(2), seen: 2 })));
    let mut fit = |samples: &Vec<Sample>| learner.fit(samples, FitOptions::default(), &mut ());
    assert!(matches!(fit(&small), Err(LearnerError::ImageSize { .. })));
    assert!(matches!(fit(&unknown), Err(LearnerError::UnknownClass { .. })));
    assert!(matches!(fit(&Vec::new()), Err(LearnerError::NoImages)));
    assert_eq!(learner.cursor(), Cursor::default());
}

#[test]
fn another_pace_is_for_the_coming_tasks() {
    let mut learner = empty("epochs = 1");
    let (images, labels) = photos(&["boots", "clogs"], 5);
    learner.learn_task(&images, &labels).unwrap();
    let pace = Pace { epochs: Some(3), lr: 0.01, schedule: crate::optimizer::Schedule::Cosine };
    learner.set_pace(pace).unwrap();
    assert_eq!(learner.learn_task(&images, &labels).unwrap().steps, 6, "three epochs of two batches");
    assert!(learner.set_pace(Pace { epochs: Some(0), ..pace }).is_err());
    learner.set_pace(Pace { epochs: None, ..pace }).unwrap();
    assert_eq!(learner.learn_task(&images, &labels).unwrap().steps, 24, "by the number of images");
    learner.set_pace(Pace { epochs: Some(2), ..pace }).unwrap();
    let mut observer = Watching { stop_after: vec![33], ..Watching::default() };
    let samples = learner.samples(&images, &labels).unwrap();
    assert!(learner.fit(&samples, FitOptions::default(), &mut observer).unwrap().is_stopped);
    assert!(matches!(learner.set_pace(pace), Err(LearnerError::InsideTask)));
}

#[test]
fn what_fills_no_batch_is_inserted_unless_told_otherwise() {
    let stored = |insert_rest: bool| {
        let mut learner = empty("offer = 'first-epoch'\nepochs = 3");
        learner.begin_task(&["boots", "clogs"]).unwrap();
        let list: Vec<Sample> =
            (0..10).map(|i| Sample { image: vec![i; SHAPE.bytes()].into(), ..samples(&[0])[0].clone() }).collect();
        learner.fit(&list, FitOptions { insert_rest, ..FitOptions::default() }, &mut ()).unwrap();
        let mut stored: Vec<u8> = learner.memory().slots().iter().map(|stored| stored.sample.image[0]).collect();
        stored.sort_unstable();
        stored
    };
    assert_eq!(stored(false).len(), 8, "two batches of four");
    assert_eq!(stored(true), (0..10).collect::<Vec<u8>>(), "each once");
}

/// Six images of each class, noise over the class's colour.
fn coloured(classes: std::ops::Range<usize>) -> (Vec<Image>, Vec<&'static str>) {
    let image = |class: usize, index: usize| -> Image {
        let bright = |channel: usize| ((class + 1) >> channel) & 1;
        (0..SHAPE.bytes()).map(|i| (20 + 160 * bright(i % 3) + (i * 7 + index * 13) % 40) as u8).collect()
    };
    classes.flat_map(|class| (0..6).map(move |index| (image(class, index), CLASSES[class]))).unzip()
}

/// A learner with a trained and frozen backbone, after two tasks of two classes, and its state before.
fn frozen(backbone: &str, settings: &str) -> (Learner, State) {
    let base = format!(
        "backbone = '{backbone}'\nwidth = 4\nthreads = 1\nmemory = 24\nretrieved = 8\ncandidates = 8\nbatch = 4\n\
         epochs = 20\nlr = 0.1\nweight-decay = 0.001\nmomentum = 0.5\nviews = 'raw'"
    );
    let learner = |settings: &str, freeze: bool| {
        let settings = PartialConfig::parse(&base).unwrap().overridden_by(&PartialConfig::parse(settings).unwrap());
        Learner::builder().shape(SHAPE).settings(&settings).freeze_backbone(freeze).build().unwrap()
    };
    let mut trained = learner("method = 'er'", false);
    let (images, labels) = coloured(0..4);
    trained.learn_task(&images, &labels).unwrap();
    let mut learner = learner(settings, true);
    let mut state = learner.network().state();
    state.0.extend(trained.network().state().under("backbone.").prefixed("backbone.").0);
    learner.load_network(&state).unwrap();
    for classes in [0..2, 2..4] {
        let (images, labels) = coloured(classes);
        learner.learn_task(&images, &labels).unwrap();
    }
    (learner, state)
}

#[test]
fn with_a_frozen_backbone_training_changes_the_head_alone() {
    for (backbone, settings) in [
        ("tiny", "method = 'er'"),
        ("resnet18", "method = 'er'"),
        ("tiny", "method = 'pcr'\nretrieval = 'balanced'"),
        ("tiny", "method = 'a-gem'"),
        ("tiny", "method = 'er'\nmemory-policy = 'gss'"),
        ("tiny", "method = 'cls-er'"),
    ] {
        let (mut learner, before) = frozen(backbone, settings);
        let after = learner.network().state();
        assert_eq!(after.under("backbone."), before.under("backbone."), "{settings}");
        let predictor = learner.predictor().state();
        assert_eq!(predictor.under("backbone."), before.under("backbone."), "{settings}");
        let head = after.under("head.");
        let numbers = head.0.values().map(|array| array.values.len()).sum::<usize>();
        assert_eq!(learner.network().parameter_count(), numbers, "{settings}");
        assert!(learner.optimizer.state(&learner.network).0.keys().all(|name| name.starts_with("head.")));
        assert_eq!(learner.recalibrate(), Recalibration::NoStatistics);
        let (images, labels) = coloured(0..4);
        let predictions = learner.predict(&images).unwrap();
        let right = predictions.iter().zip(&labels).filter(|(found, label)| *found.class == ***label).count();
        assert!(right >= 16, "{backbone}, {settings}: {right} of 24");
    }
}

#[test]
fn a_frozen_backbone_stays_frozen_in_a_file_and_takes_other_weights() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    let said = |learner: &Learner| {
        learner.save(&path).unwrap();
        std::fs::read(&path).unwrap().windows(15).any(|bytes| bytes == b"freeze-backbone")
    };
    assert!(!said(&learner("")), "a file says it only if it is so");
    let (mut frozen, _) = frozen("tiny", "method = 'cls-er'");
    assert!(said(&frozen));
    let mut loaded = Learner::load(&path).unwrap();
    let (images, labels) = coloured(4..6);
    for learner in [&mut frozen, &mut loaded] {
        learner.learn_task(&images, &labels).unwrap();
    }
    assert_eq!(loaded.network().state(), frozen.network().state());
    let mut other = loaded.network().state();
    other.0.get_mut("backbone.layers.0.running_mean").unwrap().values[0] = 7.0;
    loaded.load_network(&other).unwrap();
    assert_eq!(loaded.predictor().state(), other, "the networks that the method averages have them, too");
}

/// Counts the threads that it is called on.
struct Threads(Vec<usize>);

impl Observer for Threads {
    fn step(&mut self, _: &StepEvent) -> ControlFlow<()> {
        self.0.push(rayon::current_num_threads());
        ControlFlow::Break(())
    }
}

#[test]
fn a_learner_computes_on_its_own_threads_to_the_same_bits() {
    let (labels, mut states) = ([0, 1, 0, 1], Vec::new());
    for threads in [1, 3] {
        let mut learner = learner(&format!("threads = {threads}\nepochs = 1\nbatch = 2"));
        let mut observer = Threads(Vec::new());
        learner.fit(&samples(&labels), FitOptions::default(), &mut observer).unwrap();
        assert_eq!(observer.0, [threads]);
        learner.fit(&samples(&labels), FitOptions::default(), &mut ()).unwrap();
        let images: Vec<Image> = samples(&labels).into_iter().map(|sample| sample.image).collect();
        states.push((learner.network().state(), learner.predict(&images).unwrap()));
    }
    assert!(states[0] == states[1]);
}

#[test]
fn the_likeliest_classes_and_all_probabilities_agree_with_predict() {
    let mut learner = learner("epochs = 1");
    learner.begin_task(&CLASSES).unwrap();
    learner.retire_class("c").unwrap();
    let images: Vec<Image> = samples(&[0, 5]).into_iter().map(|sample| sample.image).collect();
    let all = learner.predict(&images).unwrap();
    let table = learner.predict_probabilities(&images).unwrap();
    assert_eq!(table.classes.iter().map(|name| &**name).collect::<Vec<_>>(), ["a", "b", "d", "e", "f"]);
    for ((whole, row), (top, one)) in all
        .iter()
        .zip(table.rows())
        .zip(learner.predict_top_k(&images, 3).unwrap().iter().zip(learner.predict_top_k(&images, 0).unwrap()))
    {
        let best = table.classes.iter().position(|name| *name == whole.class).unwrap();
        assert!(row.len() == 5 && (row[best] - whole.probability).abs() < f32::EPSILON);
        assert_eq!((&top.class, &top.others[..]), (&whole.class, &whole.others[..2]));
        assert_eq!((&one.class, one.others.len()), (&whole.class, 0), "at least one");
    }
}

#[test]
fn a_configuration_that_was_changed_in_code_is_checked() {
    let build = |change: fn(&mut LearnerConfig)| {
        Learner::builder().shape(SHAPE).backbone(crate::network::BackboneKind::Tiny).configure(change).build()
    };
    let learner = build(|config| config.optimizer.momentum = 0.5).ok().unwrap();
    assert!((learner.config().optimizer.momentum - 0.5).abs() < f64::EPSILON);
    assert_eq!(learner.config().replay, LearnerConfig::default().replay);
    let error = |change| match build(change).err().unwrap() {
        LearnerError::Config(error) => error,
        other => panic!("{other}"),
    };
    assert!(matches!(
        error(|config| config.method.kind = crate::methods::MethodKind::FineTune),
        ConfigError::ReplaysNothing { .. }
    ));
    assert!(matches!(error(|config| config.replay.memory = 0), ConfigError::Replays { .. }));
    assert!(matches!(error(|config| config.network.width = 0), ConfigError::Count { .. }));
}
