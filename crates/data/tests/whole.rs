//! Half a data set is not taken for a whole one, and what failed to be one does not stand in the
//! way.

use crate::support::{
    Files, Home, cifar_record, cifar100, pickle,
    pickle::pickled,
    real,
    server::{Answer, Server},
    tar_gz, write,
};
use rehearsal_data::{
    Count, DataError, Dataset, Incomplete, Request, Split,
    catalogue::{State, state},
    fetch::Fetch,
    verify::verify,
};

const CIFAR: &str = "/cifar-100-binary.tar.gz";

/// CIFAR-100 with so many records, all the same.
fn cifar(home: &Home, train: usize, test: usize) {
    let folder = home.path().join("cifar-100-binary");
    let names: String = (0..100).map(|i| format!("{i}\n")).collect();
    write(&folder.join("fine_label_names.txt"), names.as_bytes());
    write(&folder.join("train.bin"), &cifar_record(&[1, 2], 3).repeat(train));
    write(&folder.join("test.bin"), &cifar_record(&[1, 2], 3).repeat(test));
}

#[test]
fn a_part_is_opened_and_says_so() {
    let home = Home::new();
    cifar(&home, 25_000, 10_000);
    let source = home.open(Dataset::Cifar100, None).unwrap();
    let [part] = source.incomplete() else { panic!("{:?}", source.incomplete()) };
    assert_eq!((part.train.found, part.train.published), (25_000, 50_000));
    let smaller = home.open(Dataset::Cifar100, Some(16)).unwrap();
    assert_eq!(smaller.incomplete(), [*part], "in any size");
    let chain: rehearsal_data::Chain = "embedded+cifar100".parse().unwrap();
    assert_eq!(chain.open(&home.request()).unwrap().incomplete(), [*part], "in a chain");
    assert!(Dataset::Embedded.open(&Request::default()).unwrap().incomplete().is_empty());
}

#[test]
fn verify_and_the_list_count() {
    let home = Home::new();
    cifar(&home, 25_000, 10_000);
    let report = verify(Dataset::Cifar100, &home.request()).unwrap();
    assert!(report.bad.is_empty() && !report.is_whole(), "{report:?}");
    assert_eq!(report.incomplete.unwrap().short(), "25,000 of 50,000");
    assert_eq!(state(Dataset::Cifar100, home.path()).0.to_string(), "part: 25,000 of 50,000");
    cifar(&home, 50_000, 9_999);
    assert_eq!(state(Dataset::Cifar100, home.path()).0.to_string(), "part: 9,999 of 10,000 test");
    cifar(&home, 50_000, 10_000);
    assert_eq!(state(Dataset::Cifar100, home.path()).0, State::Ready);
    assert!(verify(Dataset::Cifar100, &home.request()).unwrap().is_whole());
}

#[test]
fn no_records_at_all_are_damage() {
    let home = Home::new();
    cifar(&home, 0, 1);
    let error = home.open(Dataset::Cifar100, None).err().unwrap().to_string();
    assert!(error.contains("train.bin, byte 0: expected a record of 3074 bytes"), "{error}");
    let report = verify(Dataset::Cifar100, &home.request()).unwrap();
    assert!(report.bad[0].path.ends_with("train.bin"), "{report:?}");
    assert_eq!(state(Dataset::Cifar100, home.path()).0, State::Partial, "it cannot be used");
}

/// The real thing: 30,000 of 50,000, where that is what is here.
#[test]
fn real_cifar100_is_whole_or_says_what_is_missing() {
    let Some(directory) = real::cifar100() else { return };
    let request = Request { directory: Some(&directory), ..Request::default() };
    let source = Dataset::Cifar100.open(&request).unwrap();
    let [train, test] = Split::BOTH.map(|split| source.labels(split).len());
    let missing = (train, test) != (50_000, 10_000);
    assert_eq!(source.incomplete().len(), usize::from(missing));
    assert_eq!(verify(Dataset::Cifar100, &request).unwrap().is_whole(), !missing);
}

#[test]
fn fetch_refuses_a_part_and_keeps_nothing_of_it() {
    for keep in [false, true] {
        let home = Home::new();
        let server = Server::start([(CIFAR, Answer::File(cifar100()))]);
        let fetch = Fetch { mirror: Some(&server.url), keep, part: false, ..home.fetching() };
        for tries in 1..=2 {
            let error = fetch.dataset(Dataset::Cifar100).unwrap_err();
            assert!(
                matches!(error, DataError::FetchedPart(Incomplete { train: Count { found: 3, .. }, .. })),
                "{error}"
            );
            assert_eq!(server.asked().len(), tries, "it is fetched again");
            assert_eq!(state(Dataset::Cifar100, home.path()).0, State::Absent);
        }
        Fetch { part: true, ..fetch }.dataset(Dataset::Cifar100).unwrap();
        assert!(matches!(state(Dataset::Cifar100, home.path()).0, State::Incomplete(Incomplete { .. })));
    }
}

/// The same command again succeeds, once the server has the right file.
#[test]
fn a_damaged_download_that_was_trusted_is_fetched_again() {
    let (good, empty) = (cifar100(), tar_gz(&Files::new()));
    let without_mark = tar_gz(&vec![("readme.txt".into(), b"nothing".to_vec())]);
    let cut = good[..good.len() / 2].to_vec();
    for (what, bad) in [("cut", cut), ("empty", empty), ("no gzip", vec![7; 99]), ("something else", without_mark)] {
        let home = Home::new();
        let server = Server::start([(CIFAR, Answer::Changes(bad, good.clone(), usize::MAX))]);
        let fetch = Fetch { mirror: Some(&server.url), ..home.fetching() };
        fetch.dataset(Dataset::Cifar100).expect_err(what);
        assert!(std::fs::read_dir(home.path().join("downloads")).unwrap().next().is_none(), "{what}");
        fetch.dataset(Dataset::Cifar100).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(home.open(Dataset::Cifar100, None).unwrap().labels(Split::Train).len(), 3, "{what}");
    }
}

/// As an earlier version left it.
#[test]
fn what_an_empty_archive_left_does_not_stand_in_the_way() {
    let home = Home::new();
    write(&home.path().join("cifar100/archive/MANIFEST.sha256"), b"");
    home.fetch(Dataset::Cifar100, &[("cifar-100-binary.tar.gz", cifar100())]).unwrap();
    assert_eq!(home.open(Dataset::Cifar100, None).unwrap().labels(Split::Train).len(), 3);
    let home = Home::new();
    let pickle = pickled(&[("n01", 1), ("n01", 2)]);
    write(&home.path().join("mini-imagenet").join(pickle::FILES[0]), b"");
    home.fetch(Dataset::MiniImagenet, &pickle::FILES.map(|name| (name, pickle.clone()))).unwrap();
    assert_eq!(home.open(Dataset::MiniImagenet, None).unwrap().labels(Split::Train).len(), 5);
}

/// Without Content-Length, the end of the connection is the end of the file: only reading it tells.
#[test]
fn a_cut_pickle_without_a_length_is_refused_and_fetched_again() {
    let home = Home::new();
    let pickle = pickled(&[("n01", 1), ("n01", 2), ("n02", 3), ("n02", 4)]);
    let [train, val, test] =
        ["/mini-imagenet-cache-train.pkl", "/mini-imagenet-cache-val.pkl", "/mini-imagenet-cache-test.pkl"];
    let whole = || Answer::File(pickle.clone());
    let cut = Answer::NoLength(pickle.clone(), pickle.len() / 2);
    let server = Server::start([(train, cut), (val, whole()), (test, whole())]);
    let fetch = Fetch { mirror: Some(&server.url), ..home.fetching() };
    let error = fetch.dataset(Dataset::MiniImagenet).unwrap_err();
    assert!(matches!(&error, DataError::FetchedBad { why, .. } if why.contains("more of the pickle")), "{error}");
    assert_eq!(state(Dataset::MiniImagenet, home.path()).0, State::Absent, "nothing is kept");
    let server = Server::start([(train, whole()), (val, whole()), (test, whole())]);
    let fetch = Fetch { mirror: Some(&server.url), ..home.fetching() };
    fetch.dataset(Dataset::MiniImagenet).unwrap();
    assert!(matches!(state(Dataset::MiniImagenet, home.path()).0, State::Incomplete(_)));
    // Damaged later, it is not ready either.
    std::fs::write(home.path().join("mini-imagenet").join(pickle::FILES[1]), &pickle[..40]).unwrap();
    assert_eq!(state(Dataset::MiniImagenet, home.path()).0, State::Partial);
}

#[test]
fn pickled_images_without_pixels_or_of_thousands_are_refused() {
    for (shape, why) in [
        ([5, 0, 0, 3], "expected images with pixels under `image_data`, found 5 of 0×0"),
        ([0, 8, 12, 3], "expected images with pixels under `image_data`, found 0 of 8×12"),
        ([1, 3000, 3000, 3], "3000×3000: 27.0 MB each, 81.0 MB in all"),
    ] {
        let home = Home::new();
        let bytes = pickle::of_shape(shape, &[("n01", 1)]);
        for name in pickle::FILES {
            write(&home.path().join(name), &bytes);
        }
        let error = home.open(Dataset::MiniImagenet, None).err().unwrap().to_string();
        assert!(error.contains(why), "{error}");
        if shape[1] == 0 {
            let report = verify(Dataset::MiniImagenet, &home.request()).unwrap();
            assert!(report.bad[0].why.contains(why), "{report:?}");
        }
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    for size in [0, 1025, usize::MAX] {
        let error = Dataset::Embedded.open(&Request { size: Some(size), ..Request::default() }).err().unwrap();
        assert!(matches!(error, DataError::Size { side } if side == size), "{error}");
    }
}

/// Reading on would end the program with SIGBUS.
#[test]
fn a_pickle_that_is_cut_while_it_is_used_is_an_error() {
    let home = Home::new();
    let bytes = pickled(&[("n01", 1), ("n01", 2)]);
    for name in pickle::FILES {
        write(&home.path().join(name), &bytes);
    }
    let source = home.open(Dataset::MiniImagenet, None).unwrap();
    source.image(Split::Train, 0).unwrap();
    for name in pickle::FILES {
        std::fs::OpenOptions::new().write(true).open(home.path().join(name)).unwrap().set_len(0).unwrap();
    }
    assert!(source.image(Split::Train, 0).unwrap_err().to_string().contains("as many bytes as when it was opened"));
}
