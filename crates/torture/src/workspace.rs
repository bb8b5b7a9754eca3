//! The directories of trials, and the files that they share.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::process::{Call, output_directory};

/// The binary, and the directory of everything.
pub struct Workspace {
    binary: PathBuf,
    root: PathBuf,
}

impl Workspace {
    pub fn new(binary: &Path, root: &Path) -> Result<Self> {
        let binary = fs::canonicalize(binary)
            .with_context(|| format!("{} cannot be found: build it, or pass --binary", binary.display()))?;
        fs::create_dir_all(root.join("shared"))?;
        Ok(Self { binary, root: fs::canonicalize(root)? })
    }

    /// A command line of the table: the words after `rehearsal`, or after the path of another program. Quotes keep
    /// words together; `{shared}` and `{examples}` are directories.
    pub fn call(&self, line: &str) -> Call {
        let mut words: Vec<String> = Vec::new();
        for (i, piece) in line.split('\'').enumerate() {
            if i % 2 == 1 { words.push(piece.into()) } else { words.extend(piece.split_whitespace().map(Into::into)) }
        }
        for word in &mut words {
            *word = word.replace("{shared}", &self.shared("").to_string_lossy());
            *word = word.replace("{examples}", &self.examples().to_string_lossy());
        }
        if !line.starts_with('{') {
            words.insert(0, self.binary.to_string_lossy().into_owned());
        }
        Call::new(words)
    }

    pub fn binary(&self) -> &Path {
        &self.binary
    }

    pub fn examples(&self) -> PathBuf {
        self.binary.with_file_name("examples")
    }

    /// An empty directory.
    pub fn directory(&self, name: &str) -> Result<PathBuf> {
        let directory = self.root.join("trials").join(name);
        remove(&directory)?;
        fs::create_dir_all(&directory)?;
        Ok(directory)
    }

    /// Files that trials read and do not change.
    pub fn shared(&self, name: &str) -> PathBuf {
        self.root.join("shared").join(name)
    }
}

/// Removes a trial's directory, and the output of its commands.
pub fn remove(directory: &Path) -> Result<()> {
    for path in [directory.to_owned(), output_directory(directory)] {
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| path.display().to_string());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Copies a file, or a directory with everything in it. Modification times are kept: packs know their images by them.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(fs::File::options().write(true).open(to)?.set_modified(from.metadata()?.modified()?)?)
}

/// Every file below a directory, sorted; a file is the only one below itself.
pub fn files_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if directory.is_file() {
        return Ok(vec![directory.into()]);
    }
    for entry in fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() { files.extend(files_below(&path)?) } else { files.push(path) }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_becomes_words() {
        let workspace = Workspace { binary: "/bin/rehearsal".into(), root: "/my work".into() };
        let words = |line: &str| workspace.call(line).words;
        assert_eq!(words("a 'b c' {shared}/d"), ["/bin/rehearsal", "a", "b c", "/my work/shared//d"]);
        assert_eq!(words("{examples}/grow more"), ["/bin/examples/grow", "more"]);
    }
}
