//! Restricted pickles, as mini-ImageNet comes.
#![no_main]

use rehearsal_data::pickle::{self, Value};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(pickle) = pickle::read(bytes) else { return };
    let root = pickle.root();
    let _ = (root.text(), root.int(), root.ints(), root.array().map(|array| array.bytes().map(<[u8]>::len)));
    let _ = root.get("image_data").and_then(Value::array).map(|array| array.shape().len());
    root.entries().into_iter().flatten().for_each(|(key, value)| drop((key.text(), value.ints())));
});
