//! The file of a version with a Gaussian head: see `docs/model-file.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Seek, Write},
    path::Path,
    sync::Arc,
};

use rehearsal_files::{
    atomic,
    model_file::{self, ArrayToWrite, Dtype, FORMAT, ModelFileError, Reader},
    seal::UNSEALED,
};
use rehearsal_gaussian::{ClassSum, Feature, Head, Sums};
use serde::{Deserialize, Serialize};

use super::{BackboneId, Calibration, Exact, Kept, OfClass};
use crate::{Answer, Digest, ModelError};

/// The array of the features of kept photos.
const FEATURES: &str = "kept.features";

/// The first key is the checksum: where it stands in the file is known.
#[derive(Serialize, Deserialize)]
struct Header {
    sha256: String,
    format: u64,
    kind: String,
    version: String,
    backbone: BackboneId,
    dimensions: usize,
    classes: Vec<Class>,
    memory: usize,
    holdout_per_class: usize,
    calibration: Calibration,
    /// Whatever a front end wants to have back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// By class, then by digest.
    kept: Vec<KeptHeader>,
}

#[derive(Serialize, Deserialize)]
struct Class {
    name: String,
    photos: usize,
    kept: usize,
    /// Holdout photos that the user gave: they follow the kept ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    given: usize,
}

#[derive(Serialize, Deserialize)]
struct KeptHeader {
    source: String,
    thumbnail: usize,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    near_duplicate: bool,
    /// What the head without the holdout set says of a photo of it: class and probability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<(u16, f32)>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn bytes<T: Copy, const N: usize>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| to(*value)).collect()
}

fn from_bytes<T, const N: usize>(bytes: &[u8], from: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|bytes| from(*bytes)).collect()
}

fn array<'a>(name: &str, dtype: Dtype, shape: &[usize], bytes: Vec<u8>) -> ArrayToWrite<'a> {
    ArrayToWrite { name: name.into(), dtype, shape: shape.to_vec(), pieces: Box::new(std::iter::once(bytes)) }
}

impl Exact {
    pub(super) fn write(&self, path: &Path) -> Result<String, ModelError> {
        let mut checksum = String::new();
        let written = atomic::write_with(path, |file| {
            checksum = self.write_to(file)?;
            Ok(())
        });
        written.map_err(|error| ModelFileError::Unwritable { path: path.into(), error })?;
        Ok(checksum)
    }

    pub(super) fn write_to(&self, file: impl Write + Seek) -> io::Result<String> {
        let header = serde_json::to_string(&self.header()).expect("a header is plain data");
        model_file::write(file, &header, self.arrays())
    }

    fn all_kept(&self) -> impl Iterator<Item = &Kept> {
        self.classes.values().flat_map(|class| class.kept().iter().chain(class.given()))
    }

    fn header(&self) -> Header {
        let class = |(name, class): (&Arc<str>, &OfClass)| Class {
            name: name.to_string(),
            photos: class.total(),
            kept: class.kept().len(),
            given: class.given().len(),
        };
        let number: BTreeMap<&str, u16> = self.classes.keys().map(|name| &**name).zip(0..).collect();
        let answers: BTreeMap<Digest, (u16, f32)> = self
            .measured
            .iter()
            .map(|answer| (answer.digest, (number[&*answer.predicted], answer.probability)))
            .collect();
        let kept = |kept: &Kept| KeptHeader {
            answer: answers.get(&kept.digest).copied(),
            source: kept.source.clone(),
            thumbnail: kept.thumbnail.len(),
            near_duplicate: self.near_duplicates.contains(&kept.digest),
        };
        Header {
            sha256: UNSEALED.into(),
            format: FORMAT,
            kind: Self::KIND.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            backbone: self.backbone.clone(),
            dimensions: self.sums.dimensions(),
            classes: self.classes.iter().map(class).collect(),
            memory: self.capacity,
            holdout_per_class: self.holdout_per_class,
            calibration: self.calibration,
            note: self.note.clone(),
            kept: self.all_kept().map(kept).collect(),
        }
    }

    fn arrays(&self) -> Vec<ArrayToWrite<'_>> {
        let (d, classes, kept) = (self.sums.dimensions(), self.classes.len(), self.all_kept().count());
        let (products, whitening) = (self.sums.products(), self.head.whitening());
        let sums: Vec<u8> =
            self.sums.classes().values().flat_map(|class| bytes(&class.sum, i64::to_le_bytes)).collect();
        let features = self.all_kept().map(|kept| bytes(kept.feature.raw(), i16::to_le_bytes));
        let thumbnails: usize = self.all_kept().map(|kept| kept.thumbnail.len()).sum();
        let number: BTreeMap<&str, u16> = self.classes.keys().map(|name| &**name).zip(0..).collect();
        let labels: Vec<u16> = self.photos.values().map(|class| number[&**class]).collect();
        vec![
            array("sums", Dtype::I64, &[classes, d], sums),
            array("products", Dtype::I64, &[products.len()], bytes(products, i64::to_le_bytes)),
            array("head.whitening", Dtype::F32, &[whitening.len()], bytes(whitening, f32::to_le_bytes)),
            array("head.means", Dtype::F32, &[classes, d], bytes(self.head.means(), f32::to_le_bytes)),
            ArrayToWrite { name: FEATURES.into(), dtype: Dtype::I16, shape: vec![kept, d], pieces: Box::new(features) },
            array(
                "kept.digests",
                Dtype::U8,
                &[kept, Digest::BYTES],
                self.all_kept().flat_map(|k| k.digest.bytes()).collect(),
            ),
            ArrayToWrite {
                name: "kept.thumbnails".into(),
                dtype: Dtype::U8,
                shape: vec![thumbnails],
                pieces: Box::new(self.all_kept().map(|kept| kept.thumbnail.to_vec())),
            },
            array(
                "photos.digests",
                Dtype::U8,
                &[labels.len(), Digest::BYTES],
                self.photos.keys().flat_map(|digest| digest.bytes()).collect(),
            ),
            array("photos.classes", Dtype::U16, &[labels.len()], bytes(&labels, u16::to_le_bytes)),
        ]
    }

    /// The version in a file, and the file's checksum.
    pub(crate) fn load(path: &Path, mut reader: Reader) -> Result<(Self, String), ModelError> {
        let unusable = |why: &str| ModelError::File(ModelFileError::Unusable { path: path.into(), why: why.into() });
        let header: Header = serde_json::from_str(reader.header()).map_err(|error| unusable(&error.to_string()))?;
        let mut arrays: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut features = Vec::new();
        while let Some((name, info)) = reader.next_array() {
            // No longer than the file: its header was checked against its length.
            let length = info.data_offsets.1 - info.data_offsets.0;
            if name == FEATURES {
                // Most of the file: one photo at a time.
                let each = header.dimensions.saturating_mul(2);
                if each == 0 || !length.is_multiple_of(each) {
                    return Err(unusable("the features of its photos have another length"));
                }
                let mut row = vec![0; each.min(length)];
                for _ in 0..length / each {
                    reader.read(&mut row)?;
                    features.push(Feature::from_raw(from_bytes(&row, i16::from_le_bytes)));
                }
            } else {
                let mut bytes = vec![0; length];
                reader.read(&mut bytes)?;
                arrays.insert(name, bytes);
            }
        }
        let checksum = reader.finish()?;
        let part = |name: &str| arrays.get(name).map_or(&[][..], Vec::as_slice);
        let exact = restore(header, features, &part).ok_or_else(|| unusable("its parts do not fit together"))?;
        Ok((exact, checksum))
    }
}

/// The version of a file; none if its parts do not fit together.
fn restore<'a>(header: Header, features: Vec<Feature>, part: &impl Fn(&str) -> &'a [u8]) -> Option<Exact> {
    let d = header.dimensions;
    let names: Vec<Arc<str>> = header.classes.iter().map(|class| class.name.as_str().into()).collect();
    let is_ordered = names.windows(2).all(|pair| pair[0] < pair[1]);
    let (classes, near_duplicates) = kept(&header, &names, features, part)?;
    let measured = measured(&header, &names, &classes)?;
    let photos = photos(&names, part)?;
    let sums = sums(&header, &names, part)?;
    let head = Head::from_parts(
        d,
        names.iter().map(ToString::to_string).collect(),
        from_bytes(part("head.whitening"), f32::from_le_bytes),
        from_bytes(part("head.means"), f32::from_le_bytes),
    )?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    photos.values().for_each(|class| *counts.entry(class).or_default() += 1);
    let is_counted = classes.iter().all(|(name, class)| counts.get(&**name) == Some(&class.total()));
    let is_known =
        |class: &OfClass, name: &Arc<str>| class.kept().iter().all(|kept| photos.get(&kept.digest) == Some(name));
    let are_known = classes.iter().all(|(name, class)| is_known(class, name));
    let Calibration { temperature, threshold, farthest } = header.calibration;
    let is_calibrated = temperature.is_finite()
        && temperature > 0.0
        && threshold.is_none_or(|threshold| (0.0..=1.0).contains(&threshold))
        && farthest.is_none_or(f32::is_finite);
    (is_ordered && is_counted && are_known && is_calibrated && names.len() >= 2).then_some(Exact {
        backbone: header.backbone,
        sums,
        photos,
        classes,
        capacity: header.memory,
        holdout_per_class: header.holdout_per_class,
        head,
        calibration: header.calibration,
        measured,
        near_duplicates,
        note: header.note,
    })
}

type KeptClasses = (BTreeMap<Arc<str>, OfClass>, BTreeSet<Digest>);

/// The photos that are kept, by class.
fn kept<'a>(
    header: &Header,
    names: &[Arc<str>],
    features: Vec<Feature>,
    part: &impl Fn(&str) -> &'a [u8],
) -> Option<KeptClasses> {
    let digests = from_bytes(part("kept.digests"), Digest::from_bytes);
    let mut thumbnails = part("kept.thumbnails");
    let fits = digests.len() == header.kept.len() && features.len() == digests.len();
    let total =
        header.classes.iter().try_fold(0usize, |sum, class| sum.checked_add(class.kept)?.checked_add(class.given))?;
    if !fits || total != digests.len() {
        return None;
    }
    let mut photos = Vec::with_capacity(digests.len());
    let mut near_duplicates = BTreeSet::new();
    for ((about, digest), feature) in header.kept.iter().zip(&digests).zip(features) {
        let (thumbnail, rest) = thumbnails.split_at_checked(about.thumbnail)?;
        thumbnails = rest;
        photos.push(Kept { digest: *digest, source: about.source.clone(), feature, thumbnail: thumbnail.into() });
        near_duplicates.extend(about.near_duplicate.then_some(*digest));
    }
    let mut photos = photos.into_iter();
    let mut of_class = |(class, name): (&Class, &Arc<str>)| {
        let kept = photos.by_ref().take(class.kept).collect();
        let given = photos.by_ref().take(class.given).collect();
        Some((Arc::clone(name), OfClass::restored(kept, class.photos, given)?))
    };
    let classes = header.classes.iter().zip(names).map(&mut of_class).collect::<Option<_>>()?;
    Some((classes, near_duplicates))
}

/// The answers to the holdout set.
fn measured(header: &Header, names: &[Arc<str>], classes: &BTreeMap<Arc<str>, OfClass>) -> Option<Vec<Answer>> {
    let of_class = |class: &'_ OfClass| class.kept().iter().chain(class.given()).cloned().collect::<Vec<_>>();
    let kept = classes.iter().flat_map(|(name, class)| of_class(class).into_iter().map(move |kept| (name, kept)));
    let answered = header.kept.iter().zip(kept).filter_map(|(about, kept)| Some((about.answer?, kept)));
    let answer = |((predicted, probability), (class, kept)): ((u16, f32), (&Arc<str>, Kept))| {
        Some(Answer {
            digest: kept.digest,
            class: Arc::clone(class),
            predicted: Arc::clone(names.get(usize::from(predicted))?),
            probability,
        })
    };
    answered.map(answer).collect()
}

/// Every photo and its class.
fn photos<'a>(names: &[Arc<str>], part: &impl Fn(&str) -> &'a [u8]) -> Option<BTreeMap<Digest, Arc<str>>> {
    let digests = from_bytes(part("photos.digests"), Digest::from_bytes);
    let labels = from_bytes(part("photos.classes"), u16::from_le_bytes);
    let is_whole = digests.len() == labels.len() && digests.windows(2).all(|pair| pair[0] < pair[1]);
    let photo = |(digest, label): (Digest, u16)| Some((digest, Arc::clone(names.get(usize::from(label))?)));
    if is_whole { digests.into_iter().zip(labels).map(photo).collect() } else { None }
}

fn sums<'a>(header: &Header, names: &[Arc<str>], part: &impl Fn(&str) -> &'a [u8]) -> Option<Sums> {
    let values = from_bytes(part("sums"), i64::from_le_bytes);
    if Some(values.len()) != names.len().checked_mul(header.dimensions) {
        return None;
    }
    let class = |((class, name), sum): ((&Class, &Arc<str>), &[i64])| {
        (name.to_string(), ClassSum { count: class.photos as u64, sum: sum.to_vec() })
    };
    let classes =
        header.classes.iter().zip(names).zip(values.chunks_exact(header.dimensions.max(1))).map(class).collect();
    Sums::from_parts(header.dimensions, classes, from_bytes(part("products"), i64::from_le_bytes))
}
