//! Where trials happen: a place for each, and what they share.

mod photos;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::program::Call;
pub use photos::bitmap;

/// The binary under torture, and the directory of everything.
pub struct Stage {
    pub binary: PathBuf,
    work: PathBuf,
}

impl Stage {
    /// In an empty directory.
    pub fn new(binary: &Path, work: &Path) -> Result<Self> {
        let binary = fs::canonicalize(binary)
            .with_context(|| format!("{} cannot be found: build it, or say --binary", binary.display()))?;
        let stage = Self { binary, work: fs::canonicalize(work)? };
        fs::create_dir_all(stage.shared(""))?;
        Ok(stage)
    }

    /// A call of the binary.
    pub fn call(&self, arguments: &[&str]) -> Call {
        Call::new(&self.binary, arguments.iter().copied())
    }

    /// An empty directory of that name.
    pub fn place(&self, name: &str) -> Result<PathBuf> {
        let place = self.work.join("places").join(name);
        clear(&place)?;
        fs::create_dir_all(&place)?;
        Ok(place)
    }

    /// Something that trials share and do not change.
    pub fn shared(&self, name: &str) -> PathBuf {
        self.work.join("shared").join(name)
    }

    /// Writes down how far it is.
    pub fn note(&self, table: &str) -> Result<()> {
        Ok(fs::write(self.work.join("table.md"), table)?)
    }

    /// A folder of images, made once.
    pub fn photos(&self) -> Result<PathBuf> {
        let root = self.shared("photos");
        if !root.exists() {
            photos::folder(&root, 2, 150)?;
        }
        Ok(root)
    }

    /// A small `cifar-100-binary.tar.gz`, made once.
    pub fn archive(&self) -> Result<PathBuf> {
        let path = self.shared("cifar-100-binary.tar.gz");
        if !path.exists() {
            fs::write(&path, photos::cifar100(40)?)?;
        }
        Ok(path)
    }

    /// Does what must end well.
    pub fn succeed(&self, place: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
        let call = self.call(arguments);
        let ending = call.run(place)?;
        if !ending.is_done() {
            bail!("{}, undisturbed, in {}: {:?}: {}", call.text(), place.display(), ending.ended, ending.errors);
        }
        Ok(ending.out)
    }
}

/// Removes a place and what was said there.
pub fn clear(place: &Path) -> Result<()> {
    for path in [place.to_owned(), place.with_added_extension("said")] {
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| path.display().to_string());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Copies a directory with all that is in it.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&source, &target)?;
        } else {
            fs::copy(&source, &target)?;
            // Packs know the images that they are made of by their times.
            fs::File::options().write(true).open(&target)?.set_modified(entry.metadata()?.modified()?)?;
        }
    }
    Ok(())
}
