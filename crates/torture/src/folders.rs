//! Folders that somebody made to hurt: what is no file, has no end, leads in circles, or is named so
//! that a terminal obeys it.

use std::{
    ffi::OsStr,
    fs::{self, File},
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::Path,
    process::Command,
};

use anyhow::Result;

use crate::{
    dice::Dice,
    scene::{Changes, MODEL},
    stage::{Stage, bitmap},
    tally::Verdict,
};

/// What a folder can have.
type Evil = (&'static str, fn(&Path, &mut Dice) -> Result<()>);

pub const EVILS: &[Evil] = &[
    ("a FIFO", |root, _| fifo(&root.join("a/pipe.png"))),
    ("a FIFO in place of a class", |root, _| fifo(&root.join("c"))),
    ("devices", |root, _| {
        symlink("/dev/zero", root.join("a/zero.png"))?;
        Ok(symlink("/dev/tty", root.join("a/tty.jpg"))?)
    }),
    ("links in circles", |root, _| {
        symlink(".", root.join("a/here"))?;
        symlink("../b", root.join("a/there"))?;
        symlink("../a", root.join("b/back"))?;
        Ok(symlink("self.png", root.join("a/self.png"))?)
    }),
    ("many ways to one folder", ways),
    ("links out", |root, _| Ok(symlink("/etc", root.join("a/etc"))?)),
    ("the whole machine", |root, _| Ok(symlink("/", root.join("a/root"))?)),
    ("deep nesting", |root, _| {
        let mut path = root.join("a");
        (0..400).for_each(|_| path.push("deep"));
        fs::create_dir_all(&path)?;
        Ok(fs::write(path.join("x.bmp"), bitmap(8, 8, 1, &mut Dice::new(0, "", 0)))?)
    }),
    ("names that terminals obey", named),
    ("empty images", |root, _| Ok(fs::write(root.join("a/empty.png"), "")?)),
    ("images cut anywhere", |root, dice| {
        let image = bitmap(12, 9, 1, dice);
        Ok(fs::write(root.join("a/cut.bmp"), &image[..dice.below(image.len())])?)
    }),
    ("noise", |root, dice| {
        let ending = dice.one(&["png", "jpg", "webp", "gif", "bmp"]);
        let noise: Vec<u8> = (0..dice.below(5000)).map(|_| dice.roll() as u8).collect();
        Ok(fs::write(root.join("b").join(format!("noise.{ending}")), noise)?)
    }),
    ("huge claimed sizes", claimed),
    ("files without end", |root, _| Ok(File::create(root.join("a/sparse.png"))?.set_len(1 << 42)?)),
    ("no images", |root, _| {
        fs::remove_dir_all(root)?;
        Ok(fs::create_dir_all(root.join("a"))?)
    }),
    ("one image", |root, dice| {
        fs::remove_dir_all(root)?;
        fs::create_dir_all(root.join("a"))?;
        Ok(fs::write(root.join("a/1.bmp"), bitmap(8, 8, 1, dice))?)
    }),
    ("many classes", |root, dice| {
        for class in 0..300 {
            let directory = root.join(format!("class{class}"));
            fs::create_dir(&directory)?;
            fs::write(directory.join("1.bmp"), bitmap(2, 2, 1, dice))?;
        }
        Ok(())
    }),
    ("directories called images", |root, _| Ok(fs::create_dir(root.join("a/folder.png"))?)),
];

fn fifo(path: &Path) -> Result<()> {
    Command::new("mkfifo").arg(path).status()?;
    Ok(())
}

fn ways(root: &Path, dice: &mut Dice) -> Result<()> {
    let level = |number: usize| root.join("a").join(format!("level{number}"));
    for number in 0..25 {
        fs::create_dir_all(level(number))?;
        for name in ["left", "right", "middle"] {
            symlink(level(number + 1), level(number).join(name))?;
        }
    }
    fs::create_dir_all(level(25))?;
    Ok(fs::write(level(25).join("deep.bmp"), bitmap(8, 8, 1, dice))?)
}

fn named(root: &Path, dice: &mut Dice) -> Result<()> {
    let names: [&[u8]; 7] =
        [b"\x1b[2J", b"new\nline", b"\xff\xfe", b"<img src=x onerror=alert(1)>", b"| cell |", b"\xe2\x80\xae", b"-rf"];
    for name in names {
        let directory = root.join(OsStr::from_bytes(name));
        fs::create_dir(&directory)?;
        for i in 0..5 {
            let file = [&i.to_string().into_bytes()[..], name, b".bmp"].concat();
            let file: Vec<u8> = file.into_iter().filter(|byte| *byte != b'/').collect();
            fs::write(directory.join(OsStr::from_bytes(&file)), bitmap(8, 8, 1, dice))?;
        }
    }
    Ok(())
}

fn claimed(root: &Path, dice: &mut Dice) -> Result<()> {
    let mut image = bitmap(12, 9, 1, dice);
    let numbers = [u32::MAX, i32::MAX as u32, 1 << 30, 65_536, 0, 100_000];
    for at in [18, 22] {
        if at == 18 || dice.below(2) == 0 {
            image[at..at + 4].copy_from_slice(&dice.one(&numbers).to_le_bytes());
        }
    }
    Ok(fs::write(root.join("a/claimed.bmp"), image)?)
}

/// The commands that read a folder.
const COMMANDS: &[&[&str]] = &[
    &["data", "verify", "folder", "--data", "photos"],
    &["learn", "new.model", "photos", "--skip-bad", "--width", "4", "--passes", "1", "--threads", "1"],
    &["data", "stats", "folder", "--data", "photos", "--size", "16"],
    &["data", "stats", "folder", "--data", "photos", "--size", "16", "--skip-bad"],
    &["data", "stats", "folder", "--data", "photos", "--size", "16", "--skip-bad", "--follow-links"],
    &["data", "preview", "folder", "--data", "photos", "--size", "16", "--skip-bad"],
    &[
        "run",
        "--dataset",
        "folder",
        "--data",
        "photos",
        "--size",
        "16",
        "--tasks",
        "2",
        "--width",
        "4",
        "--memory",
        "5",
        "--threads",
        "1",
        "--out",
        "run",
        "--skip-bad",
    ],
    &["predict", SHOP, "photos", "--skip-bad"],
    &["evaluate", SHOP, "photos", "--skip-bad", "--report", "evaluation"],
];

/// Stands for the path of a model that knows classes `a` and `b`.
const SHOP: &str = "SHOP";

/// One trial: an evil and a command. What it answers is free (done counts as the same result), but it
/// answers soon, in a sentence, and in words that a terminal does not obey.
pub fn trial(number: usize, stage: &Stage, place: &Path, dice: &mut Dice) -> Result<(&'static str, Verdict)> {
    let (name, make) = EVILS[number % EVILS.len()];
    let command = COMMANDS[number / EVILS.len() % COMMANDS.len()];
    let root = place.join("photos");
    for class in ["a", "b"] {
        fs::create_dir_all(root.join(class))?;
        for i in 0..8 {
            fs::write(root.join(class).join(format!("{i}.bmp")), bitmap(12, 9, i, dice))?;
        }
    }
    make(&root, dice)?;
    // All that there is on this machine is no folder for a trial that must end soon.
    let wanted = command.iter().filter(|word| name != "the whole machine" || **word != "--follow-links");
    let shop = Changes::new(stage)?.learned().join(MODEL).to_string_lossy().into_owned();
    let command: Vec<&str> = wanted.map(|&word| if word == SHOP { shop.as_str() } else { word }).collect();
    let ending = stage.call(&command).run(place)?;
    let told = |why: &str| format!("{name}: {}: {why}", command.join(" "));
    let raw = ending.out.contains(&0x1b) || ending.errors.contains('\x1b');
    Ok((
        name,
        match Verdict::of_failure(&ending) {
            _ if raw => Verdict::Another(told("an escape sequence is printed raw")),
            None => Verdict::Same,
            Some(Verdict::Mute(why)) if command[1] == "verify" && !ending.out.is_empty() && !ending.has_panicked() => {
                Verdict::Refused(why)
            }
            Some(Verdict::Mute(why)) => Verdict::Mute(told(&why)),
            Some(Verdict::Panic(why)) => Verdict::Panic(told(&why)),
            Some(Verdict::Signal(why)) => Verdict::Signal(told(&why)),
            Some(Verdict::Hang(why)) => Verdict::Hang(told(&why)),
            Some(verdict) => verdict,
        },
    ))
}
