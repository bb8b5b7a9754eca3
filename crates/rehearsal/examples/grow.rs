//! A model that people keep: learn three classes and save; in another process load, learn two more,
//! and predict.
//!
//!     cargo run --release -p rehearsal --example grow -- learn /tmp/shop.safetensors
//!     cargo run --release -p rehearsal --example grow -- more /tmp/shop.safetensors

use rehearsal::{
    Learner,
    datasets::{DataError, Dataset, Request, Split},
    sample::Image,
};

/// The first `count` embedded images of each of these classes, and their names.
fn photos(split: Split, names: &[&str], count: usize) -> Result<(Vec<Image>, Vec<String>), DataError> {
    let source = Dataset::Embedded.open(&Request::default())?;
    let name = |index: usize| &source.class_names()[usize::from(source.labels(split)[index])];
    let of = |wanted: &&str| (0..source.labels(split).len()).filter(|&i| name(i) == wanted).take(count).collect();
    let chosen: Vec<usize> = names.iter().flat_map(|wanted| -> Vec<usize> { of(wanted) }).collect();
    let images: Result<Vec<Image>, _> = chosen.iter().map(|&index| source.image(split, index)).collect();
    Ok((images?, chosen.iter().map(|&index| name(index).clone()).collect()))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (first, second) = (["sneaker", "trouser", "bag"], ["dress", "sandal"]);
    let path = std::env::args().nth(2).unwrap_or_else(|| "shop.safetensors".into());
    if std::env::args().nth(1).as_deref() == Some("learn") {
        let shape = Dataset::Embedded.open(&Request::default())?.shape();
        let mut learner = Learner::builder().shape(shape).width(8).epochs(2).seed(1).build()?;
        let (images, labels) = photos(Split::Train, &first, 100)?;
        learner.learn_task(&images, &labels)?;
        return Ok(learner.save(&path)?);
    }
    let mut learner = Learner::load(&path)?; // no data set, no settings
    let (images, labels) = photos(Split::Train, &second, 100)?;
    learner.learn_task(&images, &labels)?;
    let (images, labels) = photos(Split::Test, &[&first[..], &second].concat(), 40)?;
    let right = learner.predict(&images)?.iter().zip(&labels).filter(|(found, name)| *found.class == ***name).count();
    println!("{} classes, {right} of {} right", learner.classes().seen(), images.len());
    Ok(learner.save(&path)?)
}
