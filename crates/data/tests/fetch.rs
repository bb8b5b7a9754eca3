//! Downloads: resumed, redirected, refused. Archives are small and made here; the server is in
//! `support`.

use std::{sync::Mutex, time::Duration};

use crate::support::{
    Home, cifar100, cifar100_of,
    dice::Dice,
    server::{Answer, Asked, Server},
    write,
};
use rehearsal_data::{
    DataError, Dataset, Progress, Split,
    catalogue::{PublishedFile, State, state},
    fetch::{Fetch, Timeouts},
    verify::verify,
};

const PATH: &str = "/cifar-100-binary.tar.gz";

/// Collects messages.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Progress for Heard {
    fn say(&self, line: &str) {
        self.0.lock().unwrap().push(line.into());
    }
}

/// Fetches CIFAR-100 from a server that answers like this.
fn fetched(home: &Home, answer: Answer) -> (Result<(), DataError>, Vec<Asked>, Vec<String>) {
    let server = Server::start([(PATH, answer)]);
    let heard = Heard::default();
    let fetch = Fetch { mirror: Some(&server.url), progress: &heard, ..home.fetching() };
    let result = fetch.dataset(Dataset::Cifar100).map(drop);
    (result, server.asked(), heard.0.into_inner().unwrap())
}

#[track_caller]
fn assert_whole(home: &Home) {
    let source = home.open(Dataset::Cifar100, None).unwrap();
    assert_eq!(source.labels(Split::Train), [99, 12, 12]);
    // Usable, but of a few images.
    assert!(matches!(state(Dataset::Cifar100, home.path()).0, State::Incomplete(_)));
    let left: Vec<_> = std::fs::read_dir(home.path().join("downloads")).unwrap().collect();
    assert!(left.is_empty(), "archives are removed when they are unpacked: {left:?}");
}

#[test]
fn a_whole_download() {
    let home = Home::new();
    assert_eq!(state(Dataset::Cifar100, home.path()).0, State::Absent);
    let (result, asked, heard) = fetched(&home, Answer::File(cifar100()));
    result.unwrap();
    assert_whole(&home);
    assert_eq!(asked.len(), 1);
    assert!(heard[0].contains("is not the official file") && heard[0].contains("it is trusted"), "{heard:?}");
    let (result, asked, _) = fetched(&home, Answer::File(Vec::new()));
    result.unwrap();
    assert!(asked.is_empty(), "existing files are not fetched again");
}

#[test]
fn a_download_resumes_wherever_it_was_cut() {
    let archive = cifar100();
    // Every connection is cut, more often than there are tries: as long as something comes, it goes
    // on.
    for cut in [archive.len() / 37, archive.len() / 3, archive.len() / 2 + 1, archive.len() - 1] {
        let home = Home::new();
        let (result, asked, _) = fetched(&home, Answer::Cut(archive.clone(), cut));
        result.unwrap();
        assert_whole(&home);
        assert_eq!(asked.len(), archive.len().div_ceil(cut), "cut after {cut}");
        assert_eq!(asked[1].range, Some(format!("bytes={cut}-")));
        assert_eq!(asked[1].if_range.as_deref(), Some("\"one\""));
    }
}

/// Three training records of noise, which no archive makes small.
fn noise(dice: &mut Dice) -> Vec<u8> {
    let record = |labels: [u8; 2]| labels.into_iter().chain((0..3072).map(|_| dice.roll() as u8)).collect::<Vec<u8>>();
    [[3, 99], [4, 12], [4, 12]].map(record).concat()
}

#[test]
fn a_download_cut_at_random_bytes_goes_on_and_verifies() {
    for seed in 0..20 {
        let mut dice = Dice::new(seed);
        let train = noise(&mut dice);
        let archive = cifar100_of(train.clone());
        let left = dice.below(archive.len()); // by a process that was killed
        let cuts: Vec<usize> = (0..=dice.below(5)).map(|_| 1 + dice.below(archive.len() / 2)).collect();
        let what = format!("seed {seed}: {left} of {} bytes are there, connections end after {cuts:?}", archive.len());
        println!("{what}");
        let home = Home::new();
        write(&home.path().join("downloads/cifar-100-binary.tar.gz.partial"), &archive[..left]);

        let (result, asked, _) = fetched(&home, Answer::Cuts(archive.clone(), cuts.clone()));
        result.unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut begins = vec![left];
        begins.extend(cuts.iter().scan(left, |at, cut| {
            *at += cut;
            (*at < archive.len()).then_some(*at)
        }));
        let begins: Vec<_> = begins.iter().map(|&at| (at > 0).then(|| format!("bytes={at}-"))).collect();
        assert_eq!(asked.into_iter().map(|asked| asked.range).collect::<Vec<_>>(), begins, "{what}");
        let report = verify(Dataset::Cifar100, &home.request()).unwrap();
        assert!(report.bad.is_empty() && report.records == 4, "{what}: {report:?}");
        let unpacked = home.path().join("cifar100/archive/cifar-100-binary/train.bin");
        assert!(std::fs::read(unpacked).unwrap() == train, "{what}: other bytes than were sent");
    }
}

#[test]
fn a_process_that_was_killed_leaves_a_beginning_that_the_next_goes_on_with() {
    let archive = cifar100();
    let home = Home::new();
    let partial = home.path().join("downloads/cifar-100-binary.tar.gz.partial");
    std::fs::create_dir_all(partial.parent().unwrap()).unwrap();
    std::fs::write(&partial, &archive[..archive.len() / 2]).unwrap();
    assert_eq!(state(Dataset::Cifar100, home.path()).0, State::Partial);
    let (result, asked, _) = fetched(&home, Answer::File(archive.clone()));
    result.unwrap();
    assert_whole(&home);
    assert_eq!(asked[0].range, Some(format!("bytes={}-", archive.len() / 2)));
}

#[test]
fn a_download_that_was_complete_is_not_fetched_again() {
    let home = Home::new();
    let partial = home.path().join("downloads/cifar-100-binary.tar.gz.partial");
    std::fs::create_dir_all(partial.parent().unwrap()).unwrap();
    std::fs::write(&partial, cifar100()).unwrap();
    let (result, asked, _) = fetched(&home, Answer::File(cifar100()));
    result.unwrap();
    assert_whole(&home);
    assert_eq!(asked.len(), 1, "the server says that nothing is left");
}

#[test]
fn a_server_without_ranges_sends_everything_again() {
    let archive = cifar100();
    let home = Home::new();
    let partial = home.path().join("downloads/cifar-100-binary.tar.gz.partial");
    std::fs::create_dir_all(partial.parent().unwrap()).unwrap();
    std::fs::write(&partial, b"something else altogether").unwrap();
    let (result, ..) = fetched(&home, Answer::NoRanges(archive));
    result.unwrap();
    assert_whole(&home);
}

#[test]
fn a_file_that_changes_between_two_attempts_starts_over() {
    let (old, new) = (vec![7; 5000], cifar100());
    let home = Home::new();
    let (result, asked, _) = fetched(&home, Answer::Changes(old, new, 300));
    result.unwrap();
    assert_whole(&home);
    assert_eq!(asked[1].if_range.as_deref(), Some("\"one\""), "only of the version that was begun");
}

#[test]
fn a_redirect_is_followed() {
    let home = Home::new();
    let server =
        Server::start([(PATH, Answer::Redirect("/elsewhere".into())), ("/elsewhere", Answer::File(cifar100()))]);
    Fetch { mirror: Some(&server.url), ..home.fetching() }.dataset(Dataset::Cifar100).unwrap();
    assert_whole(&home);
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_circle_of_redirects_ends() {
    let home = Home::new();
    let (result, asked, _) = fetched(&home, Answer::Redirect(PATH.into()));
    assert!(matches!(result.unwrap_err(), DataError::Download { .. }));
    assert!(asked.len() < 60, "{}", asked.len());
}

#[test]
fn a_missing_file_is_an_error_at_once_and_a_busy_server_is_asked_again() {
    let home = Home::new();
    let server = Server::start([]);
    let fetch = Fetch { mirror: Some(&server.url), ..home.fetching() };
    let error = fetch.dataset(Dataset::Cifar100).unwrap_err().to_string();
    assert!(error.contains("cifar-100-binary.tar.gz cannot be fetched: the server answers 404 Not Found"), "{error}");
    assert_eq!(server.asked().len(), 1);
    assert_eq!(state(Dataset::Cifar100, home.path()).0, State::Absent);

    let (result, asked, heard) = fetched(&home, Answer::Fails(503, 3, cifar100()));
    result.unwrap();
    assert_eq!((asked.len(), heard.iter().filter(|line| line.contains("retrying")).count()), (4, 3));
    assert_whole(&home);

    let home = Home::new();
    let (result, asked, _) = fetched(&home, Answer::Fails(503, 99, Vec::new()));
    assert!(result.unwrap_err().to_string().contains("the server answers 503 (4 attempts)"));
    assert_eq!(asked.len(), 4);
}

#[test]
fn nobody_at_home_is_an_error_after_some_tries() {
    let home = Home::new();
    let fetch = Fetch { mirror: Some("http://127.0.0.1:9/"), ..home.fetching() };
    assert!(matches!(fetch.dataset(Dataset::Cifar100).unwrap_err(), DataError::Download { .. }));
    let fetch = Fetch { mirror: Some("no url at all"), ..home.fetching() };
    assert!(matches!(fetch.dataset(Dataset::Cifar100).unwrap_err(), DataError::Download { .. }));
}

#[test]
fn a_wrong_checksum_is_refused_and_nothing_is_kept() {
    let home = Home::new();
    let server = Server::start([(PATH, Answer::File(cifar100()))]);
    let fetch = Fetch { mirror: Some(&server.url), trust: false, ..home.fetching() };
    let error = fetch.dataset(Dataset::Cifar100).unwrap_err();
    assert!(
        matches!(&error, DataError::Checksum { kind: "md5", expected, .. } if expected == "03b5dce01913d631647c71ecec9e9cb8")
    );
    assert_eq!(state(Dataset::Cifar100, home.path()).0, State::Absent, "{error}");
    assert!(std::fs::read_dir(home.path().join("downloads")).unwrap().next().is_none());
}

/// The halves come from two versions of a file, and the server names neither: only the checksum can
/// tell.
#[test]
fn halves_that_do_not_fit_are_fetched_again_as_a_whole() {
    let home = Home::new();
    let partial = home.path().join("downloads/cifar-100-binary.tar.gz.partial");
    std::fs::create_dir_all(partial.parent().unwrap()).unwrap();
    std::fs::write(&partial, [7; 100]).unwrap();
    let server = Server::start([(PATH, Answer::File(cifar100()))]);
    let heard = Heard::default();
    let fetch = Fetch { mirror: Some(&server.url), trust: false, progress: &heard, ..home.fetching() };
    assert!(matches!(fetch.dataset(Dataset::Cifar100).unwrap_err(), DataError::Checksum { .. }));
    let asked: Vec<Option<String>> = server.asked().into_iter().map(|asked| asked.range).collect();
    assert_eq!(asked, [Some("bytes=100-".into()), None], "the rest, then the whole");
    assert!(heard.0.into_inner().unwrap().iter().any(|line| line.contains("starting over")));
}

#[test]
fn an_endless_download_is_stopped() {
    let home = Home::new();
    let server = Server::start([("/t10k-labels-idx1-ubyte.gz", Answer::File(vec![0; 50_000_001]))]);
    for part in ["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz"] {
        let path = home.path().join("fashion-mnist").join(part);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "there").unwrap();
    }
    let fetch = Fetch { mirror: Some(&server.url), ..home.fetching() };
    let error = fetch.dataset(Dataset::FashionMnist).unwrap_err().to_string();
    assert!(error.contains("it is larger than the 50000000 bytes"), "{error}");
}

#[test]
fn a_download_without_a_checksum_needs_trust_and_one_without_an_address_is_explained() {
    let home = Home::new();
    let fetch = Fetch { trust: false, ..home.fetching() };
    let error = fetch.dataset(Dataset::MiniImagenet).unwrap_err();
    assert!(matches!(error, DataError::ByHand(Dataset::MiniImagenet)), "{error}");
    let fetch = Fetch { mirror: Some("http://127.0.0.1:9"), trust: false, ..home.fetching() };
    let error = fetch.dataset(Dataset::MiniImagenet).unwrap_err();
    let expected = "http://127.0.0.1:9/mini-imagenet-cache-train.pkl";
    assert!(matches!(&error, DataError::Untrusted { url } if url == expected), "{error}");
    for dataset in [Dataset::Embedded, Dataset::Folder] {
        assert!(matches!(fetch.dataset(dataset), Err(DataError::NothingToFetch(found)) if found == dataset));
    }
}

#[test]
fn files_fetched_by_hand_are_checked_too() {
    let home = Home::new();
    let file = home.by_hand("cifar-100-binary.tar.gz", &cifar100());
    let fetch = Fetch { from: std::slice::from_ref(&file), trust: false, ..home.fetching() };
    assert!(matches!(fetch.dataset(Dataset::Cifar100).unwrap_err(), DataError::Checksum { .. }));
    assert!(file.exists(), "it is the user's");
    let other = [home.by_hand("holiday.zip", b"")];
    let error = Fetch { from: &other, ..home.fetching() }.dataset(Dataset::Cifar100).unwrap_err();
    let archives = ["cifar-100-binary.tar.gz"];
    assert!(
        matches!(&error, DataError::UnknownFile { path, expected, .. } if *path == other[0] && *expected == archives),
        "{error}"
    );
}

/// Every second connection makes the download start over.
#[test]
fn too_many_restarts_end_the_download() {
    let home = Home::new();
    let archive = cifar100();
    let half = archive.len() / 2;
    let (result, asked, _) = fetched(&home, Answer::Alternates(archive, half));
    let error = result.unwrap_err().to_string();
    assert!(error.contains("another file each time (started over 5 times)"), "{error}");
    assert_eq!(asked.len(), 10);
}

#[test]
fn a_server_that_is_too_slow_ends_the_download() {
    let home = Home::new();
    let server = Server::start([(PATH, Answer::Drip(cifar100(), 20))]);
    let timeouts = Timeouts { window: Duration::from_millis(400), slowest: 1000, ..home.fetching().timeouts };
    let fetch = Fetch { mirror: Some(&server.url), timeouts, ..home.fetching() };
    let begin = std::time::Instant::now();
    let error = fetch.dataset(Dataset::Cifar100).unwrap_err().to_string();
    assert!(error.contains("bytes arrived in 0 s; they are kept"), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(state(Dataset::Cifar100, home.path()).0, State::Partial, "what has arrived is kept");
}

#[test]
#[cfg(unix)]
fn planted_links_are_not_followed_while_fetching() {
    let home = Home::new();
    let precious = home.path().join("precious");
    std::fs::write(&precious, "precious").unwrap();
    let plant = |place: &str| {
        let link = home.path().join(place);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&precious, link).unwrap();
    };
    plant("downloads/cifar-100-binary.tar.gz.partial");
    plant("downloads/cifar-100-binary.tar.gz.partial.version");
    plant("cifar100/.lock");
    let (result, ..) = fetched(&home, Answer::File(cifar100()));
    result.unwrap();
    assert_whole(&home);
    assert_eq!(std::fs::read(&precious).unwrap(), b"precious");
}

/// Which version of the file a beginning is of stands beside it. Damaged, it must neither stop every
/// further try nor be waited for.
#[test]
fn a_partial_download_of_unknown_version_starts_over() {
    let archive = cifar100();
    for damage in ["line\nbreak", "\u{e4}", "fifo"] {
        let home = Home::new();
        let partial = home.path().join("downloads/cifar-100-binary.tar.gz.partial");
        write(&partial, &archive[..archive.len() / 2]);
        let version = partial.with_added_extension("version");
        if damage != "fifo" {
            write(&version, damage.as_bytes());
        } else if cfg!(unix) {
            assert!(std::process::Command::new("mkfifo").arg(&version).status().unwrap().success());
        }
        let (result, asked, _) = fetched(&home, Answer::File(archive.clone()));
        result.unwrap_or_else(|error| panic!("{damage:?}: {error}"));
        assert_whole(&home);
        assert_eq!(asked.into_iter().map(|asked| asked.range).collect::<Vec<_>>(), [None], "{damage:?}");
    }
}

/// The letters of FIPS 180-2.
const PUBLISHED: PublishedFile = PublishedFile {
    url: "http://127.0.0.1:1/abc",
    name: "abc",
    bytes: 3,
    sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
};

#[test]
fn a_published_file_is_resumed_and_appears_only_if_it_is_the_published_one() {
    let home = Home::new();
    let (directory, timeouts) = (home.path().join("backbones"), home.fetching().timeouts);
    let fetched = |answer: Answer| {
        let server = Server::start([("/abc", answer)]);
        (PUBLISHED.download(&directory, Some(&server.url), timeouts, &()), server.asked().len())
    };
    let files = || -> Vec<String> {
        let entries = std::fs::read_dir(&directory).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != ".lock").collect()
    };
    assert!(matches!(fetched(Answer::File(b"ab".into())).0, Err(DataError::Length { found: 2, .. })));
    assert!(matches!(fetched(Answer::File(b"abd".into())).0, Err(DataError::Checksum { .. })));
    assert!(matches!(fetched(Answer::File(b"abcd".into())).0, Err(DataError::Download { .. })));
    assert_eq!(files(), Vec::<String>::new());
    let (result, asked) = fetched(Answer::Cut(b"abc".into(), 1));
    result.unwrap();
    assert_eq!((asked, files()), (3, vec!["abc".to_owned()]));
    assert_eq!(fetched(Answer::File(b"abc".into())).1, 0, "it is there");
}

#[test]
fn a_published_file_is_copied_from_a_file_of_any_name_if_it_is_the_published_one() {
    let home = Home::new();
    let directory = home.path().join("backbones");
    let from = home.path().join("brought.pth");
    let copied = |bytes: &str| {
        write(&from, bytes.as_bytes());
        PUBLISHED.copy(&from, &directory, &())
    };
    assert!(matches!(copied("abcd"), Err(DataError::Length { expected: 3, found: 4, .. })));
    assert!(matches!(copied("abd"), Err(DataError::Checksum { .. })));
    assert!(!directory.exists(), "nothing changed");
    copied("abc").unwrap();
    assert_eq!(std::fs::read(directory.join("abc")).unwrap(), b"abc");
    assert!(matches!(PUBLISHED.copy(home.path(), &directory, &()), Err(DataError::Unreadable { .. })));
}
