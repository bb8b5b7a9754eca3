//! Whether an ONNX file is whole. `rten` reads a file that was cut as if the rest had never been there.

/// Numbers of fields of an ONNX model.
const GRAPH: u64 = 7;
const OPERATORS: u64 = 8;

/// Whether the fields of a model end where the file does, and graph and version of operators are among
/// them.
pub(crate) fn is_whole_model(mut bytes: &[u8]) -> bool {
    let mut seen = Vec::new();
    while !bytes.is_empty() {
        let Some((field, rest)) = field(bytes) else { return false };
        seen.push(field);
        bytes = rest;
    }
    [GRAPH, OPERATORS].iter().all(|field| seen.contains(field))
}

/// The number of the first field, and what follows it.
fn field(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (tag, rest) = number(bytes)?;
    let rest = match tag & 7 {
        0 => number(rest)?.1,
        1 => rest.get(8..)?,
        2 => {
            let (length, rest) = number(rest)?;
            rest.get(usize::try_from(length).ok()?..)?
        }
        5 => rest.get(4..)?,
        _ => return None,
    };
    Some((tag >> 3, rest))
}

/// A number of seven bits a byte, the lowest first.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)? + 1;
    let (digits, rest) = bytes.split_at(length);
    Some((digits.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f)), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_cut_anywhere_is_not_whole() {
        let whole = include_bytes!("../tests/onnx/dynamic.onnx");
        assert!(is_whole_model(whole));
        for length in 0..whole.len() {
            assert!(!is_whole_model(&whole[..length]), "{length} of {} bytes", whole.len());
        }
        assert!(!is_whole_model(&[0xff; 40]) && !is_whole_model(&[0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]));
    }
}
