//! Real data, where they are: what is missing is said on the terminal, past the test harness, which
//! hides what passing tests print.

use crate::support::real;
use rehearsal_data::{Dataset, Request, Split, stats::stats, verify::verify};

/// The whole of Debian's `dataset-fashion-mnist`.
#[test]
fn fashion_mnist_is_found_where_debian_puts_it() {
    let Some(debian) = real::fashion_mnist() else { return };
    let request = Request { directory: Some(&debian), ..Request::default() };
    let source = Dataset::FashionMnist.open(&request).unwrap();
    assert_eq!((source.labels(Split::Train).len(), source.labels(Split::Test).len()), (60_000, 10_000));
    let report = verify(Dataset::FashionMnist, &request).unwrap();
    assert_eq!((report.records, report.bad.len(), report.notes.len()), (70_000, 0, 4), "{report:?}");
}

/// CIFAR-100 or a part of it that is fair to all classes.
#[test]
fn real_cifar100_is_read() {
    let Some(directory) = real::cifar100() else { return };
    let source = Dataset::Cifar100.open(&Request { directory: Some(&directory), ..Request::default() }).unwrap();
    let stats = stats(&*source, &()).unwrap();
    let fair = |count: usize, all: usize| count * 100 == all;
    assert!(stats.classes.iter().all(|class| fair(class.train, stats.train) && fair(class.test, stats.test)));
    // The published channel means of CIFAR-100 are 0.5071, 0.4865 and 0.4409.
    let near = stats.mean.iter().zip([0.5071, 0.4865, 0.4409]).all(|(mean, known)| (mean - known).abs() < 0.01);
    assert!(near, "{:?}", stats.mean);
}
