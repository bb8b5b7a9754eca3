"""What `rehearsal learn` keeps of classes that come in sessions, beside other ways of learning the same photos.

    python3 scripts/measure_learn.py WAY DATA OUT [--sessions 4] [--program rehearsal] [FLAGS FOR THE PROGRAM ...]

DATA holds train/CLASS/* and test/CLASS/*; classes come in the order of their names, as many in each session. WAY is learn
(also for fine-tuning: learn ... --method fine-tune), run (the benchmark on the same stream), joint (all classes at once)
or once (learn, all classes in one session). OUT must not exist. Prints one line of JSON: accuracy in % on the test photos
of the classes seen so far and mean forgetting in points (best minus last, of earlier sessions) after each session, steps,
seconds, bytes of the model."""
import argparse, json, os, pathlib, subprocess, sys, time


def program(*words):
    ended = subprocess.run([args.program, *words], stdout=subprocess.PIPE, text=True)
    if ended.returncode:
        sys.exit(ended.returncode)
    return json.loads(ended.stdout)


def sessions(classes):
    each = len(classes) // args.sessions
    return [classes[i : i + each] for i in range(0, len(classes), each)]


def learn(groups):
    rows, seconds, steps = [], [], 0
    for number, group in enumerate(groups, 1):
        folder = args.out / f"session-{number}"
        for name in group:
            (folder / name).mkdir(parents=True)
            for photo in (args.data / "train" / name).iterdir():
                os.link(photo, folder / name / photo.name)
        began, model = time.time(), args.out / "shop.model"
        report = program("learn", str(model), str(folder), "--backbone", "scratch", "--accept", "--json", "--quiet", *flags)
        seconds, steps = seconds + [time.time() - began], steps + report["steps"]
        told = program("evaluate", str(model), str(args.data), "--json", "--quiet")
        right = {name: row[i] / sum(row) for i, (name, row) in enumerate(zip(told["classes"], told["confusion"]))}
        rows.append([sum(right[name] for name in group) / len(group) for group in groups[:number]])
    return {"rows": rows, "steps": steps, "seconds": seconds, "bytes": report["bytes"], "epochs": report["epochs"]}


def run(tasks, method):
    done = program("run", *method, "--dataset", "folder", "--data", str(args.data), "--class-order", "natural", "--tasks", str(tasks),
                   "--out", str(args.out / "run"), "--json", "--quiet", *flags)
    rows = lambda measures: [[a for a in row if a is not None] for row in measures["matrix"]]
    told = {"rows": rows(done), "steps": done["steps"], "seconds": done["seconds"]["tasks"]}
    if done.get("recalibrated"):
        told["recalibrated"] = summary(rows(done["recalibrated"]))
    return told


def summary(rows):
    lost = lambda k: [max(row[j] for row in rows[j : k + 1]) - rows[k][j] for j in range(k)]
    mean = lambda values: round(100 * sum(values) / len(values), 1) if values else None
    return {"accuracy": [mean(row) for row in rows], "forgetting": [mean(lost(k)) for k in range(len(rows))]}


parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("way", choices=["learn", "run", "joint", "once"])
parser.add_argument("data", type=pathlib.Path)
parser.add_argument("out", type=pathlib.Path)
parser.add_argument("--sessions", type=int, default=4)
parser.add_argument("--program", default="rehearsal")
args, flags = parser.parse_known_args()
args.out.mkdir(parents=True)
classes = sorted(path.name for path in (args.data / "train").iterdir() if path.is_dir())
told = {
    "learn": lambda: learn(sessions(classes)),
    "once": lambda: learn([classes]),
    "run": lambda: run(args.sessions, []),
    "joint": lambda: run(1, ["--method", "joint"]),
}[args.way]()
rows = told.pop("rows")
told["seconds"] = [round(seconds) for seconds in told["seconds"]]
print(json.dumps({"way": args.way, "data": args.data.name, "flags": flags} | summary(rows) | told), flush=True)
