//! A data set in another size or with more channels.

use std::sync::Arc;

use crate::{DataError, Image, ImageShape, Incomplete, Skipped, Source, Split, decode::resized, photos::Ignored};

/// A source whose images are resized when they are asked for.
pub(crate) struct Reshaped {
    inner: Arc<dyn Source>,
    shape: ImageShape,
}

/// `inner` with images of `shape`; itself where they are. Grey may become colour, colour never
/// grey.
pub(crate) fn reshaped(inner: Arc<dyn Source>, shape: ImageShape) -> Arc<dyn Source> {
    if inner.shape() == shape { inner } else { Arc::new(Reshaped { inner, shape }) }
}

impl Source for Reshaped {
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
        let resized = if (from.height, from.width) == (to.height, to.width) {
            image.to_vec()
        } else {
            resized(&image, (from.height, from.width), from.channels, (to.height, to.width))
        };
        if from.channels == to.channels {
            return Ok(Image::from(resized));
        }
        Ok(resized.iter().flat_map(|&grey| [grey; 3]).collect())
    }

    fn sha256(&self) -> &str {
        self.inner.sha256()
    }

    fn domain_names(&self) -> &[String] {
        self.inner.domain_names()
    }

    fn domains(&self, split: Split) -> &[u16] {
        self.inner.domains(split)
    }

    fn incomplete(&self) -> &[Incomplete] {
        self.inner.incomplete()
    }

    fn skipped(&self) -> &[Skipped] {
        self.inner.skipped()
    }

    fn ignored(&self) -> &[Ignored] {
        self.inner.ignored()
    }
}
