//! Records of CIFAR-100: every image of what is accepted can be read.
#![no_main]

use std::fs;

use rehearsal_data::{Dataset, Request, Split};
use rehearsal_fuzz::place;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let names = place().join("fine_label_names.txt");
    if !names.exists() {
        fs::write(names, (0..100).map(|i| format!("{i}\n")).collect::<String>()).expect("it can be written");
        fs::write(place().join("test.bin"), [3; 3074]).expect("it can be written");
    }
    fs::write(place().join("train.bin"), bytes).expect("it can be written");
    if let Ok(source) = Dataset::Cifar100.open(&Request { directory: Some(place()), ..Request::default() }) {
        let images = source.labels(Split::Train).len();
        (0..images).for_each(|i| drop(source.image(Split::Train, i).expect("what is listed is there")));
    }
});
