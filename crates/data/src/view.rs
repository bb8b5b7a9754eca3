//! A data set in another size, with more channels, or with fewer images than were published.

use std::{path::Path, sync::Arc};

use crate::{DataError, Image, ImageShape, Incomplete, Skipped, Source, Split, decode::resized, photos::Ignored};

/// A source whose images are resized when they are asked for, and that may be a part of a data set.
struct View {
    inner: Arc<dyn Source>,
    shape: ImageShape,
    incomplete: Vec<Incomplete>,
}

/// `inner` with images of `shape`. Grey may become colour, colour never grey. `incomplete` says what
/// is missing, if anything is.
pub(crate) fn view(inner: Arc<dyn Source>, shape: ImageShape, incomplete: Option<Incomplete>) -> Arc<dyn Source> {
    if inner.shape() == shape && incomplete.is_none() {
        return inner;
    }
    let incomplete = incomplete.map_or_else(|| inner.incomplete().to_vec(), |part| vec![part]);
    Arc::new(View { inner, shape, incomplete })
}

impl Source for View {
    fn shape(&self) -> ImageShape {
        self.shape
    }

    fn class_names(&self) -> &[String] {
        self.inner.class_names()
    }

    fn labels(&self, split: Split) -> &[u16] {
        self.inner.labels(split)
    }

    fn image(&self, split: Split, index: usize) -> Result<Image, DataError> {
        let image = self.inner.image(split, index)?;
        let (from, to) = (self.inner.shape(), self.shape);
        let image = if (from.height, from.width) == (to.height, to.width) {
            image
        } else {
            resized(&image, (from.height, from.width), from.channels, (to.height, to.width)).into()
        };
        let to_colour = |&grey: &u8| [grey; 3];
        Ok(if from.channels == to.channels { image } else { image.iter().flat_map(to_colour).collect() })
    }

    fn sha256(&self) -> &str {
        self.inner.sha256()
    }

    fn file(&self, split: Split, index: usize) -> Option<&Path> {
        self.inner.file(split, index)
    }

    fn domain_names(&self) -> &[String] {
        self.inner.domain_names()
    }

    fn domains(&self, split: Split) -> &[u16] {
        self.inner.domains(split)
    }

    fn parts(&self) -> Vec<usize> {
        self.inner.parts()
    }

    fn incomplete(&self) -> &[Incomplete] {
        &self.incomplete
    }

    fn skipped(&self) -> &[Skipped] {
        self.inner.skipped()
    }

    fn ignored(&self) -> &[Ignored] {
        self.inner.ignored()
    }
}
