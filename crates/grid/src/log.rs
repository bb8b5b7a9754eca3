//! What a run wrote to standard error, kept in a file if the run failed. The file gets its size before the run begins,
//! so that the reason can be written even if a full disk ended the run.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::Path,
};

use rehearsal_files::regular;

/// Bytes that are reserved for an error.
const ROOM: usize = 4096;

/// The most that is kept of what a run says.
const MOST: u64 = 1 << 20;

/// Writes a log of blanks, in place of what is there. On most file systems, overwriting it later takes no more space.
///
/// # Errors
/// It cannot be written.
pub fn reserve(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    // Not written through: it may be a link to something else.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::create_new(path)?;
    let written = file.write_all(&[b' '; ROOM]).and_then(|()| file.sync_all());
    written.inspect_err(|_| drop(fs::remove_file(path)))
}

/// Writes what a run said; if there is no space for all of it, only why it failed.
///
/// # Errors
/// Not even that can be written.
pub fn keep(path: &Path, said: &str) -> io::Result<()> {
    let why = reason(said).map_or(String::new(), |why| format!("error: {why}"));
    let short = why.chars().scan(0, |length, c| {
        *length += c.len_utf8();
        (*length < ROOM).then_some(c)
    });
    overwrite(path, said).or_else(|_| overwrite(path, &(short.collect::<String>() + "\n")))
}

/// Removes the log of a run that did not fail. If that fails, or the grid is killed before, the next grid does it.
pub fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Writes over the beginning of a file, then cuts off the rest.
fn overwrite(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

/// What a process says, up to a limit. The rest is read and dropped, so that the process does not wait.
pub(crate) fn listen(from: impl Read) -> String {
    let mut bytes = Vec::new();
    let mut from = BufReader::new(from).take(MOST);
    let _ = from.read_to_end(&mut bytes);
    let mut rest = from.into_inner();
    while let Ok(more @ 1..) = rest.fill_buf().map(<[u8]>::len) {
        rest.consume(more);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Why a run failed, from its log; none if there is no log, or only blanks.
pub fn read(path: &Path) -> Option<String> {
    let bytes = regular::read(path, 2 * MOST).ok()?;
    reason(&String::from_utf8_lossy(&bytes))
}

/// The last error, what a process panicked with, or else its last line.
pub(crate) fn reason(said: &str) -> Option<String> {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let error = lines.iter().rev().find_map(|line| line.strip_prefix("error: "));
    let panicked =
        || lines.iter().position(|line| line.contains("panicked at")).and_then(|i| lines.get(i + 1)).copied();
    error.or_else(panicked).or(lines.last().copied()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_found() {
        assert_eq!(reason("a\nerror: no room\nmore\n").as_deref(), Some("no room"));
        assert_eq!(reason("thread 'main' panicked at x:1:\nwhy\nnote").as_deref(), Some("why"));
        assert_eq!(reason("only this").as_deref(), Some("only this"));
        assert_eq!((reason("  \n \n"), reason("")), (None, None));
    }

    #[test]
    fn blanks_say_nothing_and_are_written_over() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("logs/run.log");
        reserve(&path).unwrap();
        assert_eq!((fs::metadata(&path).unwrap().len(), read(&path)), (4096, None));
        keep(&path, "error: the disk is full\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "error: the disk is full\n");
        reserve(&path).unwrap();
        assert_eq!(read(&path), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (precious, path) = (place.path().join("precious"), place.path().join("run.log"));
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        reserve(&path).unwrap();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    }

    #[test]
    fn output_beyond_the_limit_is_dropped() {
        let said = listen(io::repeat(b'x').take(3 << 20));
        assert_eq!(said.len(), 1 << 20);
    }
}
