//! The parts of TensorBoard's `event.proto` and `summary.proto` that scalars need, and the frame of a
//! `TFRecord` around each message.

use prost::Message;

/// `Event.file_version` of the files in which TensorBoard looks for [`Event::start`].
const VERSION: &str = "brain.Event:2";

/// One message of an event file.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(uint64, tag = "2")]
    step: u64,
    #[prost(string, optional, tag = "3")]
    file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    summary: Option<Summary>,
    #[prost(message, optional, tag = "7")]
    session_log: Option<SessionLog>,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    tag: String,
    /// Optional, so that a value of 0 is written too.
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

#[derive(Clone, PartialEq, Message)]
struct SessionLog {
    /// 1 is `START`.
    #[prost(int32, tag = "1")]
    status: i32,
}

impl Event {
    /// The first event of every file.
    pub fn version(seconds: f64) -> Self {
        Self { wall_time: seconds, file_version: Some(VERSION.into()), ..Self::default() }
    }

    /// Notes that a run was resumed: values of this step and later steps in earlier files are void.
    pub fn start(seconds: f64, step: u64) -> Self {
        Self { wall_time: seconds, step, session_log: Some(SessionLog { status: 1 }), ..Self::default() }
    }

    /// The values of some tags at a step.
    pub fn scalars(seconds: f64, step: u64, values: &[(&str, f32)]) -> Self {
        let value = |&(tag, value): &(&str, f32)| Value { tag: tag.into(), simple_value: Some(value) };
        let summary = Some(Summary { value: values.iter().map(value).collect() });
        Self { wall_time: seconds, step, summary, ..Self::default() }
    }

    /// The event as a record: length, checksum of the length, message, checksum of the message.
    pub fn record(&self) -> Vec<u8> {
        let message = self.encode_to_vec();
        let length = (message.len() as u64).to_le_bytes();
        [&length, &masked_crc(&length)[..], &message, &masked_crc(&message)].concat()
    }
}

/// `TFRecord`'s checksum: masked, because a CRC of data that contains CRCs is weak.
fn masked_crc(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by `event_pb2.Event(…).SerializeToString().hex()` of the package `tensorboard` 2.21.0.
    #[test]
    fn messages_equal_the_reference() {
        let hex = |event: Event| event.encode_to_vec().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(Event::version(1.5)), "09000000000000f83f1a0d627261696e2e4576656e743a32");
        assert_eq!(hex(Event::start(1.5, 300)), "09000000000000f83f10ac023a020801");
        assert_eq!(hex(Event::start(1.5, 0)), "09000000000000f83f3a020801");
        assert_eq!(
            hex(Event::scalars(1.5, 7, &[("loss", 0.25), ("größe", -1.0)])),
            "09000000000000f83f10072a1d0a0b0a046c6f7373150000803e0a0e0a076772c3b6c39f6515000080bf"
        );
        assert_eq!(hex(Event::scalars(1.5, 7, &[("a", 0.0)])), "09000000000000f83f10072a0a0a080a01611500000000");
    }

    /// The first record of every file that TensorFlow writes begins with these twelve bytes: the
    /// length 24 and its checksum.
    #[test]
    fn the_frame_equals_tensorflows() {
        let record = Event::version(1.5).record();
        assert_eq!(record[..12], [0x18, 0, 0, 0, 0, 0, 0, 0, 0xA3, 0x7F, 0x4B, 0x22]);
        assert_eq!(record.len(), 8 + 4 + 24 + 4);
    }
}
