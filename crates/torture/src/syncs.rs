//! Files must be synced before they are renamed, and the directory after it: after a power cut, a disk that keeps its
//! word has the old file or the new one. strace shows it, in undisturbed commands.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::{process::Call, scenario::Scenario, strace, tally::Verdict, workspace::Workspace};

/// The system calls that write, sync and rename.
const CALLS: &str = "write,pwrite64,writev,ftruncate,fsync,fdatasync,syncfs,rename,renameat,renameat2";

/// All commands of a scenario.
pub fn trial(scenario: &Scenario, workspace: &Workspace, directory: &Path) -> Result<Verdict> {
    scenario.prepare(workspace, directory)?;
    for _ in 1..scenario.steps {
        let verdict = trace(scenario.next(workspace, directory), directory)?;
        if verdict != Verdict::Same {
            return Ok(verdict);
        }
    }
    trace(scenario.next(workspace, directory), directory)
}

/// One command.
pub fn trace(call: Call, directory: &Path) -> Result<Verdict> {
    let (exit, log) = strace::log(call, directory, CALLS, &["-y", "-s", "4096"])?;
    if let Some(verdict) = Verdict::of_failure(&exit) {
        return Ok(verdict);
    }
    let disk = Disk::after(directory, &log);
    Ok(match disk.wrong.into_iter().next() {
        Some(wrong) => Verdict::another_result(wrong),
        None if disk.renames == 0 => Verdict::another_result("nothing was renamed, so nothing was shown"),
        None => Verdict::Same,
    })
}

/// What may not be on the disk yet.
#[derive(Default)]
struct Disk {
    /// Files written, and directories with a new name, since they were synced.
    files: BTreeSet<PathBuf>,
    directories: BTreeSet<PathBuf>,
    renames: usize,
    wrong: Vec<String>,
}

impl Disk {
    /// After the system calls of a log. A write counts from the beginning of the call, a sync from its end.
    fn after(directory: &Path, log: &str) -> Self {
        let (mut disk, mut unfinished) = (Self::default(), BTreeMap::new());
        for (thread, call) in log.lines().filter_map(|line| line.split_once(' ')) {
            let call = call.trim_start();
            let ended = if call.starts_with("<... ") { unfinished.remove(thread) } else { Some(call) };
            if ended == Some(call) {
                disk.begin(directory, call);
            }
            if call.ends_with("<unfinished ...>") {
                unfinished.insert(thread, call);
            } else if let Some(ended) = ended.filter(|_| call.trim_end().ends_with("= 0")) {
                disk.end(ended);
            }
        }
        let not_synced = |path: &PathBuf| format!("a new name in {} is not synced", path.display());
        disk.wrong.extend(disk.directories.iter().map(not_synced));
        disk
    }

    fn begin(&mut self, directory: &Path, call: &str) {
        let quoted: Vec<PathBuf> = call.split('"').skip(1).step_by(2).map(|name| directory.join(name)).collect();
        match (call.split('(').next(), descriptor(call), &quoted[..]) {
            (Some("rename" | "renameat" | "renameat2"), _, [_, to, ..]) if is_cache(to) => {}
            (Some("rename" | "renameat" | "renameat2"), _, [from, to, ..]) => {
                self.renames += 1;
                if let Some(file) = self.files.iter().find(|file| file.starts_with(from)) {
                    self.wrong.push(format!("{} is renamed before {} is synced", from.display(), file.display()));
                }
                self.directories.extend(to.parent().map(Path::to_path_buf));
            }
            (Some("write" | "pwrite64" | "writev" | "ftruncate"), Some(file), _) if file.starts_with(directory) => {
                self.files.insert(file);
            }
            _ => {}
        }
    }

    fn end(&mut self, call: &str) {
        let synced: fn(&PathBuf, &Option<PathBuf>) -> bool = match call.split('(').next() {
            Some("fsync" | "fdatasync") => |path, synced| synced.as_ref() == Some(path),
            Some("syncfs") => |_, _| true,
            _ => return,
        };
        let path = descriptor(call);
        self.files.retain(|file| !synced(file, &path));
        self.directories.retain(|directory| !synced(directory, &path));
    }
}

/// Features of photos: each file has a checksum, and a damaged one is computed again.
fn is_cache(path: &Path) -> bool {
    path.iter().any(|part| part == "features")
}

/// The path of a call's descriptor: `fsync(7</a/b>)`.
fn descriptor(call: &str) -> Option<PathBuf> {
    let (number, rest) = call.split_once('(')?.1.split_once('<')?;
    number.parse::<u32>().ok()?;
    Some(rest.split_once('>')?.0.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(log: &[&str]) -> Vec<String> {
        Disk::after(Path::new("/trial"), &log.concat()).wrong
    }

    #[test]
    fn a_file_must_be_synced_before_its_rename_and_its_directory_after() {
        let write = "7 write(3</trial/run/a.partial>, \"x\", 1) = 1\n";
        let sync = "7 fsync(3</trial/run/a.partial>) = 0\n";
        let rename = "7 rename(\"run/a.partial\", \"run/a\") = 0\n";
        let name = "9 fsync(4</trial/run>) = 0\n";
        assert_eq!(wrong(&[write, sync, rename, name]), [""; 0]);
        assert!(wrong(&[write, rename, sync, name])[0].contains("is renamed before /trial/run/a.partial"));
        assert!(wrong(&[write, sync, write, rename, name])[0].contains("is renamed before"));
        let cached = "7 rename(\"data/features/x/a.partial\", \"data/features/x/a\") = 0\n";
        assert_eq!(wrong(&[cached]), [""; 0], "a cache need not be synced");
        assert_eq!(wrong(&[write, sync, rename]), ["a new name in /trial/run is not synced"]);
        assert_eq!(wrong(&[write, sync, name, rename]), ["a new name in /trial/run is not synced"]);
        let failed = "7 fsync(3</trial/run/a.partial>) = -1 EIO (Input/output error)\n";
        assert!(wrong(&[write, failed, rename, name])[0].contains("is renamed before"));
    }

    #[test]
    fn syncfs_syncs_every_file_and_calls_may_overlap() {
        let write = "7 write(3</trial/new/deep/a>, \"x\", 1) = 1\n";
        let rename = "7 rename(\"/trial/new\", \"/trial/data\") = 0\n8 fsync(4</trial>) = 0\n";
        let begun = "8 syncfs(5</trial/new> <unfinished ...>\n";
        let ended = "8 <... syncfs resumed>)        = 0\n";
        assert_eq!(wrong(&[write, begun, ended, rename]), [""; 0]);
        assert!(wrong(&[write, begun, rename, ended])[0].contains("/trial/new is renamed before"));
        assert!(wrong(&[begun, write, rename])[0].contains("/trial/new is renamed before"));
    }
}
