//! How much is remembered: a number of images, or of bytes.

use std::{fmt, str::FromStr};

/// How much is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySize {
    /// So many images.
    Images(usize),
    /// As many images as so many bytes hold.
    Bytes(u64),
}

const UNITS: [(&str, u64); 6] =
    [("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("KIB", 1 << 10), ("MIB", 1 << 20), ("GIB", 1 << 30)];

impl MemorySize {
    /// What a new model remembers.
    pub const DEFAULT: Self = Self::Images(5000);

    /// How many photos of so many bytes each.
    pub fn photos(self, bytes_each: usize) -> usize {
        match self {
            Self::Images(images) => images,
            Self::Bytes(bytes) => usize::try_from(bytes / bytes_each.max(1) as u64).unwrap_or(usize::MAX),
        }
    }
}

impl FromStr for MemorySize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is neither a number of images (5000) nor of bytes (64MB)");
        let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, unit) = (&text[..split], text[split..].trim().to_uppercase());
        let number: u64 = digits.parse().map_err(|_| wrong())?;
        if unit.is_empty() {
            return Ok(Self::Images(usize::try_from(number).map_err(|_| wrong())?));
        }
        let (_, size) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        number.checked_mul(*size).map(Self::Bytes).ok_or_else(wrong)
    }
}

impl fmt::Display for MemorySize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Images(images) => write!(f, "{images}"),
            Self::Bytes(bytes) => {
                let whole = UNITS.iter().filter(|(_, size)| bytes.is_multiple_of(*size));
                let (name, size) = whole.min_by_key(|(_, size)| bytes / size).unwrap_or(&("KB", 1_000));
                write!(f, "{}{}", bytes / size, name.replace("IB", "iB"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_or_bytes() {
        let images = |text: &str| text.parse::<MemorySize>().map(|size| size.photos(300));
        assert_eq!(images("5000"), Ok(5000));
        assert_eq!((images("64MB"), images("64 mb"), images("3kB")), (Ok(213_333), Ok(213_333), Ok(10)));
        assert_eq!(images("1MiB"), Ok(3495));
        for wrong in ["", "many", "-5", "5TB", "5.5MB", "99999999999999999999", "99999999999999999GB"] {
            assert!(images(wrong).unwrap_err().contains("neither a number of images"), "{wrong}");
        }
        for text in ["5000", "64MB", "1MiB", "3KB", "2GiB"] {
            assert_eq!(text.parse::<MemorySize>().unwrap().to_string(), text);
        }
    }
}
