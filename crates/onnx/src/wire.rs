//! The fields of a protobuf message, without their meaning: what a reader does not know is kept as it is.

/// One field.
pub(crate) struct Field<'a> {
    pub number: u64,
    pub value: FieldValue<'a>,
    /// All of its bytes.
    pub raw: &'a [u8],
}

#[derive(Clone, Copy)]
pub(crate) enum FieldValue<'a> {
    Number(u64),
    /// A text, bytes, a message, or packed numbers.
    Bytes(&'a [u8]),
    Other,
}

/// The fields of a message in order; the last one is `None` if they do not end where the bytes do.
pub(crate) fn fields(mut bytes: &[u8]) -> impl Iterator<Item = Option<Field<'_>>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let split = field(bytes);
        bytes = split.as_ref().map_or(&[], |(_, rest)| rest);
        Some(split.map(|(field, _)| field))
    })
}

/// The first field, and what follows it.
fn field(bytes: &[u8]) -> Option<(Field<'_>, &[u8])> {
    let (tag, rest) = number(bytes)?;
    let (value, rest) = match tag & 7 {
        0 => number(rest).map(|(value, rest)| (FieldValue::Number(value), rest))?,
        1 => (FieldValue::Other, rest.get(8..)?),
        2 => {
            let (length, rest) = number(rest)?;
            let (value, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (FieldValue::Bytes(value), rest)
        }
        5 => (FieldValue::Other, rest.get(4..)?),
        _ => return None,
    };
    Some((Field { number: tag >> 3, value, raw: &bytes[..bytes.len() - rest.len()] }, rest))
}

/// A number of seven bits a byte, the lowest first.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)? + 1;
    let (digits, rest) = bytes.split_at(length);
    Some((digits.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f)), rest))
}

/// Appends a field of bytes.
pub(crate) fn put_bytes(number: u64, parts: &[&[u8]], to: &mut Vec<u8>) {
    put_number(number << 3 | 2, to);
    put_number(parts.iter().map(|part| part.len() as u64).sum(), to);
    parts.iter().for_each(|part| to.extend_from_slice(part));
}

fn put_number(mut value: u64, to: &mut Vec<u8>) {
    while value > 0x7f {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}
