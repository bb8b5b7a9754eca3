//! What is renamed into its place was synced before, and the name after it: a power cut, on a disk
//! that keeps its word, finds the old file or the new one. Told by strace, in undisturbed calls.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::{program::Call, scene::Rehearsed, stage::Stage, tally::Verdict};

/// The calls that write, sync and rename.
const CALLS: &str = "write,pwrite64,writev,ftruncate,fsync,fdatasync,syncfs,rename,renameat,renameat2";

/// All calls of a scene, undisturbed.
pub fn of_scene(rehearsed: &Rehearsed, stage: &Stage, place: &Path) -> Result<Verdict> {
    rehearsed.scene.prepare(place)?;
    for _ in 0..rehearsed.scene.calls() {
        let verdict = of_call(rehearsed.scene.next(stage, place), place)?;
        if verdict != Verdict::Same {
            return Ok(verdict);
        }
    }
    Ok(Verdict::Same)
}

/// One call, undisturbed.
pub fn of_call(call: Call, place: &Path) -> Result<Verdict> {
    let log = place.with_added_extension("strace");
    let trace = format!("trace={CALLS}");
    let log_name = log.to_string_lossy().into_owned();
    let words = ["strace", "-f", "-y", "-s", "4096", "--seccomp-bpf", "-o", &log_name, "-e", &trace];
    let ending = call.through(words).run(place)?;
    if let Some(verdict) = Verdict::of_failure(&ending) {
        return Ok(verdict);
    }
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    fs::remove_file(log)?;
    let mut disk = Disk { place: place.into(), ..Disk::default() };
    for line in text.lines() {
        disk.see(line);
    }
    disk.finish();
    Ok(match (disk.wrong.first(), disk.renames) {
        (Some(wrong), _) => Verdict::Another(wrong.clone()),
        (None, 0) => Verdict::Another("nothing was renamed: there was nothing to see".into()),
        (None, _) => Verdict::Same,
    })
}

/// What is not yet on the disk, for all that we know.
#[derive(Default)]
struct Disk {
    /// What relative names are relative to.
    place: PathBuf,
    /// Files written since they were synced.
    files: BTreeSet<PathBuf>,
    /// Directories with names that were not synced.
    names: BTreeSet<PathBuf>,
    /// Calls that have begun and not ended, by thread.
    begun: BTreeMap<String, String>,
    renames: usize,
    wrong: Vec<String>,
}

impl Disk {
    /// A line of strace. What is written counts from the beginning of the call, what is synced from
    /// its end.
    fn see(&mut self, line: &str) {
        let Some((thread, rest)) = line.split_once(' ') else { return };
        let rest = rest.trim_start();
        if rest.starts_with("<... ") {
            if let Some(call) = self.begun.remove(thread).filter(|_| has_succeeded(rest)) {
                self.synced(&call);
            }
            return;
        }
        self.written(rest);
        if rest.ends_with("<unfinished ...>") {
            self.begun.insert(thread.into(), rest.into());
        } else if has_succeeded(rest) {
            self.synced(rest);
        }
    }

    fn written(&mut self, call: &str) {
        let name = call.split('(').next().unwrap_or("");
        match (name, descriptor(call), quoted(call)) {
            ("write" | "pwrite64" | "writev" | "ftruncate", Some(file), _) if file.starts_with(&self.place) => {
                self.files.insert(file);
            }
            ("rename" | "renameat" | "renameat2", _, Some((from, to))) => {
                self.renamed(&self.place.join(from), &self.place.join(to));
            }
            _ => {}
        }
    }

    fn renamed(&mut self, from: &Path, to: &Path) {
        self.renames += 1;
        if let Some(file) = self.files.iter().find(|file| file.starts_with(from)) {
            self.wrong.push(format!("{} is renamed before {} is synced", from.display(), file.display()));
        }
        self.names.extend(to.parent().map(Path::to_path_buf));
    }

    fn synced(&mut self, call: &str) {
        match (call.split('(').next().unwrap_or(""), descriptor(call)) {
            ("fsync" | "fdatasync", Some(path)) => {
                self.files.remove(&path);
                self.names.remove(&path);
            }
            ("syncfs", _) => {
                self.files.clear();
                self.names.clear();
            }
            _ => {}
        }
    }

    fn finish(&mut self) {
        let names = std::mem::take(&mut self.names);
        self.wrong.extend(names.iter().map(|name| format!("a new name in {} is not synced", name.display())));
    }
}

/// Whether a line ends with `= 0`, before which strace may put spaces.
fn has_succeeded(line: &str) -> bool {
    line.trim_end().ends_with("= 0")
}

/// The path of a call's descriptor: `fsync(7</a/b>)`.
fn descriptor(call: &str) -> Option<PathBuf> {
    let (number, rest) = call.split_once('(')?.1.split_once('<')?;
    number.parse::<u32>().ok()?;
    Some(rest.split_once('>')?.0.into())
}

/// The two names of a rename.
fn quoted(call: &str) -> Option<(&str, &str)> {
    let mut parts = call.split('"');
    let from = parts.nth(1)?;
    Some((from, parts.nth(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(log: &str) -> Vec<String> {
        let mut disk = Disk { place: "/place".into(), ..Disk::default() };
        log.lines().for_each(|line| disk.see(line));
        disk.finish();
        disk.wrong
    }

    #[test]
    fn what_is_renamed_must_be_synced_before_and_its_name_after() {
        let write = "7 write(3</place/run/a.partial>, \"x\", 1) = 1\n";
        let sync = "7 fsync(3</place/run/a.partial>) = 0\n";
        let rename = "7 rename(\"run/a.partial\", \"run/a\") = 0\n";
        let name = "9 fsync(4</place/run>) = 0\n";
        assert_eq!(wrong(&[write, sync, rename, name].concat()), [""; 0]);
        assert!(wrong(&[write, rename, sync, name].concat())[0].contains("is renamed before /place/run/a.partial"));
        assert!(wrong(&[write, sync, write, rename, name].concat())[0].contains("is renamed before"));
        assert_eq!(wrong(&[write, sync, rename].concat()), ["a new name in /place/run is not synced"]);
        assert_eq!(wrong(&[write, sync, name, rename].concat()), ["a new name in /place/run is not synced"]);
        let failed = "7 fsync(3</place/run/a.partial>) = -1 EIO (Input/output error)\n";
        assert!(wrong(&[write, failed, rename, name].concat())[0].contains("is renamed before"));
    }

    #[test]
    fn a_directory_is_synced_with_the_whole_file_system_and_calls_may_overlap() {
        let write = "7 write(3</place/new/deep/a>, \"x\", 1) = 1\n";
        let rename = "7 rename(\"/place/new\", \"/place/data\") = 0\n8 fsync(4</place>) = 0\n";
        let begun = "8 syncfs(5</place/new> <unfinished ...>\n";
        let ended = "8 <... syncfs resumed>)        = 0\n";
        assert_eq!(wrong(&[write, begun, ended, rename].concat()), [""; 0]);
        assert!(wrong(&[write, begun, rename, ended].concat())[0].contains("/place/new is renamed before"));
        assert!(wrong(&[begun, write, rename].concat())[0].contains("/place/new is renamed before"));
    }
}
