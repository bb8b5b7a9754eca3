//! Hostile folders: special files, endless files, circular links, names that terminals obey.

use std::{path::Path, process::Command};

use anyhow::{Result, ensure};

use crate::{
    inputs::class,
    random::Random,
    table::{FOLDER_COMMANDS, FOLLOW_LINKS, VERIFY_FOLDER},
    tally::Verdict,
    workspace::Workspace,
};

const WHOLE_MACHINE: &str = "the whole machine";

/// What is wrong with a folder, and the script that makes it so: `$1` is a random number, `$2` a file of noise.
const HOSTILE: [(&str, &str); 18] = [
    ("a FIFO", "mkfifo a/pipe.png"),
    ("a FIFO in place of a class", "mkfifo c"),
    ("devices", "ln -s /dev/zero a/zero.png; ln -s /dev/tty a/tty.jpg"),
    ("links in circles", "ln -s . a/here; ln -s ../b a/there; ln -s ../a b/back; ln -s self.png a/self.png"),
    (
        "many ways to one folder",
        "for i in $(seq 0 24); do mkdir a/level$i
           for way in left right middle; do ln -s ../level$((i + 1)) a/level$i/$way; done
         done; mkdir a/level25; image 0 > a/level25/deep.bmp",
    ),
    ("links out", "ln -s /etc a/etc"),
    (WHOLE_MACHINE, "ln -s / a/root"),
    ("deep nesting", "deep=a/$(printf 'deep/%.0s' $(seq 400)); mkdir -p $deep; image 0 > ${deep}x.bmp"),
    (
        "names that terminals obey",
        r#"for name in '\033[2J' 'new\nline' '\377\376' '<img src=x onerror=alert(1)>' '| cell |' '\342\200\256' '-rf'; do
             name=$(printf -- "$name"); mkdir -- "$name"; n=$((n + 10))
             for i in 0 1 2 3 4; do image $((n + i)) > "./$name/$i$name.bmp"; done
           done"#,
    ),
    ("empty images", "touch a/empty.png"),
    ("images cut anywhere", "head -c $(($1 % 378)) a/0.bmp > a/cut.bmp"),
    (
        "noise",
        r#"n=$1; noise=$2; set -- png jpg webp gif bmp; shift $((n % 5)); tail -c $((n % 5000)) "$noise" > b/noise.$1"#,
    ),
    (
        "huge claimed sizes",
        r"n=$1; set -- '\377\377\377\377' '\377\377\377\177' '\0\0\0\100' '\0\0\1\0' '\0\0\0\0' '\240\206\1\0'
          shift $((n % 6))
          (head -c 18 a/0.bmp; printf $1
           if [ $((n / 6 % 2)) = 0 ]; then tail -c +23 a/0.bmp; else printf $1; tail -c +27 a/0.bmp; fi) > a/claimed.bmp",
    ),
    ("files without end", "truncate -s 4T a/sparse.png"),
    ("no images", "rm -r a b; mkdir a"),
    ("one image", "mv a/1.bmp .; rm -r a b; mkdir a; mv 1.bmp a"),
    ("many classes", "for i in $(seq 0 299); do mkdir class$i; image $i > class$i/1.bmp; done"),
    ("directories called images", "mkdir a/folder.png"),
];
/// `image` prints another image for each number.
const PRELUDE: &str = "set -ef; n=0; image() { head -c 374 a/1.bmp; printf %04d $1; }; ";

/// One trial: a folder and a command. Any answer is allowed (success counts as the same result), but it must come soon,
/// with a message, and without escape sequences.
pub fn trial(number: usize, workspace: &Workspace, directory: &Path, random: &mut Random) -> Result<(String, Verdict)> {
    let (name, script) = HOSTILE[number % HOSTILE.len()];
    let mut command = FOLDER_COMMANDS[number / HOSTILE.len() % FOLDER_COMMANDS.len()].to_owned();
    for name in ["photos/a", "photos/b"] {
        class(&directory.join(name), 8, (12, 9), 0, random)?;
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{PRELUDE}{script}")).arg("sh").arg(random.below(1_000_000).to_string());
    let made = shell.arg(workspace.shared("noise")).current_dir(directory.join("photos")).status()?;
    ensure!(made.success(), "the folder cannot be made: {name}");
    // All files of this machine are too many for a trial.
    if name == WHOLE_MACHINE {
        command = command.replace(FOLLOW_LINKS, "");
    }
    let exit = workspace.call(&command).run(directory)?;
    let failure = if command == VERIFY_FOLDER { Verdict::of_failed_report(&exit) } else { Verdict::of_failure(&exit) };
    let verdict = if exit.stdout.contains(&0x1b) || exit.stderr.contains('\x1b') {
        Verdict::another_result("an escape sequence is printed")
    } else {
        failure.unwrap_or(Verdict::Same)
    };
    Ok((name.into(), verdict.after(&format!("{name}: {command}"))))
}
