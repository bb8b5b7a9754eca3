//! Folders of photos that a small network tells apart in seconds, and a model that learns them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use rehearsal_data::{Dataset, ImageShape, Request, Split};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, text};

/// Learned in a second.
pub const SMALL: &str = "backbone = 'tiny'\nwidth = 6\nepochs = 6\n";
const SIDE: u32 = 24;

/// A directory to work in.
pub struct Shop(TempDir);

impl Shop {
    /// With the settings of a small network in `small.toml`.
    pub fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("small.toml"), SMALL).unwrap();
        Self(place)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// So many photos of each class in `folder`.
    pub fn photos(&self, folder: &str, classes: &[&str], count: usize) {
        classes.iter().for_each(|class| self.photos_from(folder, class, 0, count));
    }

    /// Photos of a class, numbered from `first`: the class's colour, with noise that tells them
    /// apart.
    pub fn photos_from(&self, folder: &str, class: &str, first: usize, count: usize) {
        self.photos_like(folder, class, class, first, count);
    }

    /// The same, of a class that looks as another does.
    pub fn photos_like(&self, folder: &str, class: &str, looks: &str, first: usize, count: usize) {
        let place = self.path().join(folder).join(class);
        fs::create_dir_all(&place).unwrap();
        let hash =
            |value: u64| value.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let seed = looks.bytes().fold(7, |seed, byte| hash(seed ^ u64::from(byte)));
        for number in first..first + count {
            let pixel = |x: u32, y: u32| {
                let place = u64::from(y * SIDE + x) + 1000 * number as u64;
                [0, 1, 2].map(|channel| {
                    let tint = (hash(seed ^ channel) >> 56).cast_signed();
                    let noise = (hash(seed.wrapping_add(hash(place * 3 + channel))) >> 57).cast_signed() - 64;
                    (tint + noise).clamp(0, 255) as u8
                })
            };
            let image = image::RgbImage::from_fn(SIDE, SIDE, |x, y| image::Rgb(pixel(x, y)));
            image.save(place.join(format!("{number:03}.png"))).unwrap();
        }
    }

    /// Images of clothes that are inside the program: no two are near-duplicates.
    pub fn clothes(&self, folder: &str, class: &str, first: usize, count: usize) {
        let source = Dataset::Embedded.open(&Request::default()).unwrap();
        let place = self.path().join(folder).join(class);
        fs::create_dir_all(&place).unwrap();
        let label = source.class_names().iter().position(|name| name == class).unwrap();
        let of_class = source.labels(Split::Train).iter().enumerate().filter(|(_, of)| usize::from(**of) == label);
        let ImageShape { height, width, channels } = source.shape();
        assert_eq!(channels, 1);
        for (number, (index, _)) in of_class.enumerate().skip(first).take(count) {
            let pixels = source.image(Split::Train, index).unwrap().to_vec();
            let image = image::GrayImage::from_raw(width as u32, height as u32, pixels).unwrap();
            image.save(place.join(format!("{number:03}.png"))).unwrap();
        }
    }

    /// `rehearsal learn MODEL FOLDER …`
    pub fn arguments(model: &str, folder: &str, more: &[&str]) -> Vec<String> {
        let first = ["learn", model, folder, "--settings", "small.toml"];
        first.iter().chain(more).map(|&word| word.to_owned()).collect()
    }

    pub fn learn_as(&self, model: &str, folder: &str, more: &[&str]) -> Output {
        let arguments = Self::arguments(model, folder, more);
        output(self.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub fn learn(&self, folder: &str, more: &[&str]) -> Output {
        self.learn_as("shop.model", folder, more)
    }

    /// What `show --json` says.
    pub fn show(&self) -> Value {
        json(&output(self.path(), &["show", "shop.model", "--json"]))
    }

    /// Every file and its bytes.
    pub fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut contents = BTreeMap::new();
        collect(self.path(), &mut contents);
        contents
    }
}

fn collect(directory: &Path, contents: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, contents);
        } else if path.file_name().is_none_or(|name| name != "lock") {
            contents.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

/// What it printed, read as JSON.
#[track_caller]
pub fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Exit code 2, one line that says why, and nothing written.
#[track_caller]
pub fn refused(shop: &Shop, arguments: &[&str], why: &str) {
    let before = shop.contents();
    let output = output(shop.path(), arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    let last: Vec<&str> = errors.lines().skip_while(|line| !line.starts_with("error: ")).collect();
    assert!(last.iter().skip(1).all(|line| line.starts_with("hint: ")), "{arguments:?}: {errors}");
    assert!(!last.is_empty() && last.join("\n").contains(why), "{arguments:?}: {errors}");
    assert!(output.stdout.is_empty());
    assert_eq!(shop.contents(), before, "{arguments:?} changed something");
}

/// Whether no line is wider than so many columns.
pub fn lines_fit(text: &str, columns: usize) -> bool {
    text.lines().all(|line| line.chars().count() <= columns)
}
