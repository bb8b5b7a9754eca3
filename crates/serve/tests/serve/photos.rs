//! Photos that a backbone tells apart: stripes and spots.

use std::io::Cursor;

use image::{ImageFormat, Rgb, RgbImage};

/// A PNG file of a class: `number` makes it another one.
pub fn photo(class: &str, number: u32) -> Vec<u8> {
    let noise = |x: u32, y: u32| ((x * 37 + y * 91 + x * y * 13 + number * 101) % 60) as u8;
    let period = 6 + number % 5;
    let image = RgbImage::from_fn(96, 72, |x, y| {
        let on = match class {
            "stripes" => (x / period).is_multiple_of(2),
            "bars" => (y / period).is_multiple_of(2),
            _ => ((x / period) + (y / period)).is_multiple_of(2),
        };
        let tint = match class {
            "stripes" => [200, 40, 40],
            "bars" => [40, 200, 40],
            _ => [40, 40, 200],
        };
        Rgb(tint.map(|shade| if on { shade + noise(x, y) % 50 } else { noise(x, y) }))
    });
    encoded(&image)
}

pub fn encoded(image: &RgbImage) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// Photos of several classes as the body of a form.
pub fn lesson(classes: &[&str], numbers: std::ops::Range<u32>) -> (String, Vec<u8>) {
    #[allow(clippy::type_complexity, reason = "classes with files")]
    let photos: Vec<(String, Vec<(String, Vec<u8>)>)> = classes
        .iter()
        .map(|class| {
            let of_class = numbers.clone().map(|number| (format!("{class}-{number}.png"), photo(class, number)));
            ((*class).to_owned(), of_class.collect())
        })
        .collect();
    let mut parts = Vec::new();
    for (class, photos) in &photos {
        parts.push(Ok(class.as_str()));
        parts.extend(photos.iter().map(|(name, bytes)| Err((name.as_str(), bytes.as_slice()))));
    }
    super::client::form(&parts)
}
