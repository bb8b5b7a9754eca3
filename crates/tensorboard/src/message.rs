//! The messages of TensorBoard's `event.proto` and `summary.proto` that are needed here, in the
//! encoding of Protocol Buffers.

/// `Event.file_version` of files in which TensorBoard looks for [`start`].
const VERSION: &str = "brain.Event:2";

/// The event that a file begins with.
pub fn version(seconds: f64) -> Vec<u8> {
    let mut event = event(seconds, 0);
    bytes(&mut event, 3, VERSION.as_bytes());
    event
}

/// The event that says that a run goes on (`SessionLog.START`): what earlier files hold of this
/// step and later ones is void.
pub fn start(seconds: f64, step: u64) -> Vec<u8> {
    let mut event = event(seconds, step);
    bytes(&mut event, 7, &[key(1, Wire::Varint), 1]);
    event
}

/// An event with the values of some tags.
pub fn scalars(seconds: f64, step: u64, values: &[(&str, f32)]) -> Vec<u8> {
    let mut summary = Vec::new();
    for (tag, value) in values {
        let mut one = Vec::new();
        bytes(&mut one, 1, tag.as_bytes());
        one.push(key(2, Wire::Fixed32));
        one.extend(value.to_le_bytes());
        bytes(&mut summary, 1, &one);
    }
    let mut event = event(seconds, step);
    bytes(&mut event, 5, &summary);
    event
}

/// What all events begin with: when it was, and after how many steps.
fn event(seconds: f64, step: u64) -> Vec<u8> {
    let mut event = vec![key(1, Wire::Fixed64)];
    event.extend(seconds.to_le_bytes());
    // Zero is what a reader assumes.
    if step > 0 {
        event.push(key(2, Wire::Varint));
        varint(&mut event, step);
    }
    event
}

/// How a field's value is written.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5,
}

/// What stands before a field's value. Fields up to 15 have keys of one byte.
fn key(field: u8, wire: Wire) -> u8 {
    field << 3 | wire as u8
}

fn bytes(message: &mut Vec<u8>, field: u8, value: &[u8]) {
    message.push(key(field, Wire::Bytes));
    varint(message, value.len() as u64);
    message.extend(value);
}

/// Seven bits a byte, lowest first; the high bit says that more follow.
fn varint(message: &mut Vec<u8>, mut value: u64) {
    while value > 0x7F {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by `event_pb2.Event(…).SerializeToString().hex()` of the package `tensorboard`
    /// 2.21.0.
    #[test]
    fn messages_are_those_of_the_reference() {
        let hex = |message: Vec<u8>| message.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(version(1.5)), "09000000000000f83f1a0d627261696e2e4576656e743a32");
        assert_eq!(hex(start(1.5, 300)), "09000000000000f83f10ac023a020801");
        assert_eq!(hex(start(1.5, 0)), "09000000000000f83f3a020801");
        assert_eq!(
            hex(scalars(1.5, 7, &[("loss", 0.25), ("größe", -1.0)])),
            "09000000000000f83f10072a1d0a0b0a046c6f7373150000803e0a0e0a076772c3b6c39f6515000080bf"
        );
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        let written = |value| {
            let mut message = Vec::new();
            varint(&mut message, value);
            message
        };
        assert_eq!(written(0), [0]);
        assert_eq!(written(127), [127]);
        assert_eq!(written(300), [0xAC, 2]);
        assert_eq!(written(u64::MAX).len(), 10);
    }
}
