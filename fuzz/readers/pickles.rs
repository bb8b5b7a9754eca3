//! Pickles of mini-ImageNet.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rehearsal_data::pickle;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(pickle) = pickle::read(bytes) {
        let root = pickle.root();
        let _ = (root.text(), root.int(), root.ints(), root.array().map(|array| array.bytes().map(<[u8]>::len)));
        let _ = root.get("image_data").and_then(pickle::Value::array).map(|array| array.shape().len());
        root.entries().into_iter().flatten().for_each(|(key, value)| drop((key.text(), value.ints())));
    }
});
