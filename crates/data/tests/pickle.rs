//! Pickles as Python writes them, and pickles that want more.

use rehearsal_data::pickle::{PickleError, read};

/// Python 3.11 and numpy 2.4:
/// ```python
/// a = np.arange(2*2*3*3, dtype=np.uint8).reshape(2, 2, 3, 3)
/// d = {'image_data': a, 'class_dict': {'n01': [0], 'n02': [np.int64(1)]}}
/// for p in (2, 3, 4, 5): print(p, pickle.dumps(d, p).hex())
/// ```
const WRITTEN: [(u8, &str); 4] = [
    (
        2,
        "80027d710028580a000000696d6167655f646174617101636e756d70792e5f636f72652e6d756c746961727261790a5f7265636f6e7374727563740a7102636e756d70790a6e6461727261790a71034b00857104635f636f646563730a656e636f64650a7105580100000062710658060000006c6174696e31710786710852710987710a52710b284b01284b024b024b034b0374710c636e756d70790a64747970650a710d58020000007531710e898887710f527110284b0358010000007c71114e4e4e4affffffff4affffffff4b00747112628968055824000000000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122237113680786711452711574711662580a000000636c6173735f6469637471177d71182858030000006e303171195d711a4b006158030000006e3032711b5d711c636e756d70792e5f636f72652e6d756c746961727261790a7363616c61720a711d680d58020000006938711e898887711f527120284b0358010000003c71214e4e4e4affffffff4affffffff4b0074712262680558080000000100000000000000712368078671245271258671265271276175752e",
    ),
    (
        3,
        "80037d710028580a000000696d6167655f646174617101636e756d70792e5f636f72652e6d756c746961727261790a5f7265636f6e7374727563740a7102636e756d70790a6e6461727261790a71034b008571044301627105877106527107284b01284b024b024b034b03747108636e756d70790a64747970650a710958020000007531710a898887710b52710c284b0358010000007c710d4e4e4e4affffffff4affffffff4b0074710e62894324000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223710f74711062580a000000636c6173735f6469637471117d71122858030000006e303171135d71144b006158030000006e303271155d7116636e756d70792e5f636f72652e6d756c746961727261790a7363616c61720a71176809580200000069387118898887711952711a284b0358010000003c711b4e4e4e4affffffff4affffffff4b0074711c6243080100000000000000711d86711e52711f6175752e",
    ),
    (
        4,
        "8004952c010000000000007d94288c0a696d6167655f64617461948c166e756d70792e5f636f72652e6d756c74696172726179948c0c5f7265636f6e7374727563749493948c056e756d7079948c076e6461727261799493944b0085944301629487945294284b01284b024b024b034b03749468058c0564747970659493948c02753194898887945294284b038c017c944e4e4e4affffffff4affffffff4b00749462894324000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223947494628c0a636c6173735f64696374947d94288c036e3031945d944b00618c036e3032945d9468028c067363616c6172949394680e8c02693894898887945294284b038c013c944e4e4e4affffffff4affffffff4b007494624308010000000000000094869452946175752e",
    ),
    (
        5,
        "8005952e010000000000007d94288c0a696d6167655f64617461948c136e756d70792e5f636f72652e6e756d65726963948c0b5f66726f6d62756666657294939428962400000000000000000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223948c056e756d7079948c0564747970659493948c02753194898887945294284b038c017c944e4e4e4affffffff4affffffff4b00749462284b024b024b034b0374948c014394749452948c0a636c6173735f64696374947d94288c036e3031945d944b00618c036e3032945d948c166e756d70792e5f636f72652e6d756c74696172726179948c067363616c617294939468088c02693894898887945294284b038c013c944e4e4e4affffffff4affffffff4b007494624308010000000000000094869452946175752e",
    ),
];

fn bytes(hexadecimal: &str) -> Vec<u8> {
    (0..hexadecimal.len() / 2).map(|i| u8::from_str_radix(&hexadecimal[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn error(bytes: &[u8]) -> PickleError {
    read(bytes).err().unwrap()
}

#[test]
fn every_protocol_gives_the_same_array_and_indices() {
    for (protocol, text) in WRITTEN {
        let bytes = bytes(text);
        let pickle = read(&bytes).unwrap_or_else(|error| panic!("protocol {protocol}: {error:?}"));
        let array = pickle.root().get("image_data").unwrap().array().unwrap();
        assert_eq!(array.shape(), [2, 2, 3, 3], "protocol {protocol}");
        assert_eq!(array.bytes().unwrap(), (0..36).collect::<Vec<u8>>());
        let classes = pickle.root().get("class_dict").unwrap();
        assert_eq!(classes.get("n01").unwrap().ints(), Some(vec![0]));
        assert_eq!(classes.get("n02").unwrap().ints(), Some(vec![1]), "a numpy integer");
        assert!(classes.get("n03").is_none() && classes.text().is_none() && classes.array().is_none());
    }
}

#[test]
fn every_cut_is_an_error() {
    for (_, text) in WRITTEN {
        let bytes = bytes(text);
        (0..bytes.len()).for_each(|length| assert!(read(&bytes[..length]).is_err()));
    }
}

/// `pickle.dumps(os.system)` and its call, in protocols 2 and 4.
#[test]
fn calls_are_refused() {
    let found = error(b"\x80\x02cposix\nsystem\nq\x00X\x04\x00\x00\x00echoq\x01\x85q\x02R.");
    assert_eq!(found.expected, "nothing but data and numpy arrays");
    assert!(found.found.contains("posix") && found.found.contains("system"), "{found:?}");
    assert!(error(b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R.").found.contains("eval"));
    assert!(error(b"\x80\x02ccopy_reg\n_reconstructor\n.").found.contains("copy_reg"));
    assert!(error(b"\x80\x02}\x81.").found.contains("0x81"), "NEWOBJ");
    assert!(error(b"\x80\x02cnumpy\nndarray\n)R.").expected.contains("arguments"), "ndarray itself is not called");
}

#[test]
fn numbers_that_a_pickle_claims_cost_nothing() {
    for claim in [
        &b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f"[..],
        b"\x80\x04\x8d\x00\x00\x00\x00\x00\x00\x00\x40",
        b"\x80\x02T\xff\xff\xff\x7f",
    ] {
        assert_eq!(error(claim).expected, "more of the pickle");
    }
    // An array of 2^63 elements with one byte of data.
    let huge = b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R\x89U\x01xtb.";
    assert!(error(huge).expected.contains("the state of an array"));
    // Texts may become bytes, but not again and again.
    let mut encoded =
        b"\x80\x02X\x10\x00\x00\x000123456789abcdefq\x00X\x06\x00\x00\x00latin1q\x01\x86q\x02c_codecs\nencode\nq\x03"
            .to_vec();
    encoded.extend(b"h\x03h\x02R0".repeat(1000));
    encoded.extend(b"N.");
    assert_eq!(error(&encoded).expected, "no more bytes than the pickle has");
}

#[test]
fn an_object_that_contains_itself_is_no_trouble() {
    let pickle = read(b"\x80\x02]q\x00h\x00a.").unwrap();
    assert_eq!(pickle.root().ints(), None);
    let pickle = read(b"\x80\x02}q\x00X\x01\x00\x00\x00ah\x00s.").unwrap();
    assert!(pickle.root().get("a").unwrap().get("a").unwrap().get("b").is_none());
}
