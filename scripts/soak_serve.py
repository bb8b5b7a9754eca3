"""Loads a new server of `rehearsal serve` for some minutes with everything at once, prints its memory every minute, and fails if that grows.

    python3 scripts/soak_serve.py target/release/rehearsal PHOTOS [--minutes 10]

PHOTOS has one folder per class. Three clients ask, one of them with photos that are none; one teaches ten photos, deletes them again and changes
versions; one reads the memory, its thumbnails and the metrics. Only the standard library; Linux only. Every answer must be expected: nothing may end
in 5xx. The median of the resident memory in the last third of the minutes may be 5 % above that in the second."""
import argparse, base64, collections, itertools, json, pathlib, random, re, statistics, subprocess, sys, tempfile, threading, time, urllib.error, urllib.request

OF_A_CLASS = 30
TAUGHT = 10


class Client:
    def __init__(self, url):
        self.url, self.statuses, self.lock = url, collections.Counter(), threading.Lock()

    def call(self, method, path, body=None, kind="application/json"):
        request = urllib.request.Request(self.url + path, body, {"Content-Type": kind}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                status, content = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, content = error.code, error.read()
        with self.lock:
            self.statuses[method, re.sub(r"/(?:[0-9a-f]{32}|\d+)(?=/|$)", "/…", path.split("?")[0]), status] += 1
        return status, content

    def json(self, method, path, value=None):
        status, content = self.call(method, path, None if value is None else json.dumps(value).encode())
        return status, json.loads(content)

    def learn(self, photos):
        encoded = [{"class": label, "name": path.name, "image": base64.b64encode(path.read_bytes()).decode()} for label, path in photos]
        status, job = self.json("POST", "/v1/learn?accept=true", {"photos": encoded})
        while status in (200, 202) and job["state"] in ("waiting", "running"):
            time.sleep(0.1)
            status, job = self.json("GET", f"/v1/jobs/{job['id']}")
        return job


def ask(client, photos, is_bad, over):
    for number in itertools.count():
        if over.is_set():
            return
        body = photos[number % len(photos)][1].read_bytes()
        client.call("POST", "/v1/predict?explain=true", body[: len(body) // 2] if is_bad else body, "image/jpeg")


def teach(client, photos, over):
    rng = random.Random(7)
    while not over.is_set():
        before = {photo["id"] for photo in client.json("GET", "/v1/memory?limit=1000")[1]["photos"]}
        client.learn(rng.sample(photos, TAUGHT))
        new = [photo["id"] for photo in client.json("GET", "/v1/memory?limit=1000")[1]["photos"] if photo["id"] not in before]
        if new:
            client.json("POST", "/v1/memory/remove", {"photos": new})
        versions = client.json("GET", "/v1/versions")[1]
        client.json("POST", f"/v1/versions/{rng.choice(versions)['version']}/use")


def look(client, over):
    for number in itertools.count():
        if over.is_set():
            return
        photos = client.json("GET", "/v1/memory?limit=100&sort=doubtful")[1]["photos"]
        client.call("GET", photos[number % len(photos)]["thumbnail"])
        for path in ("/metrics", "/v1/model", "/v1/memory/map", "/"):
            client.call("GET", path)
        time.sleep(0.5)


def resident(pid):
    """Megabytes."""
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("photos", type=pathlib.Path)
    parser.add_argument("--minutes", type=int, default=10)
    args = parser.parse_args()
    if not 3 <= args.minutes <= 600:
        sys.exit("from 3 to 600 minutes")
    first, more = [], []
    for folder in sorted(path for path in args.photos.iterdir() if path.is_dir()):
        files = [(folder.name, path) for path in sorted(folder.iterdir())]
        first += files[:OF_A_CLASS]
        more += files[OF_A_CLASS:]
    with tempfile.TemporaryDirectory() as place:
        server = subprocess.Popen([args.program, "serve", f"{place}/soak.model", "--port", "0"], stderr=subprocess.PIPE, text=True)
        try:
            client = Client(re.search(r"http://\S+", server.stderr.readline())[0])
            threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()
            job = client.learn(first)
            assert job["state"] == "learned", job
            over = threading.Event()
            work = [(ask, more, False), (ask, more, False), (ask, more, True), (teach, more), (look,)]
            threads = [threading.Thread(target=what, args=(client, *given, over)) for what, *given in work]
            for thread in threads:
                thread.start()
            seen = []
            for minute in range(1, args.minutes + 1):
                time.sleep(60)
                seen.append(resident(server.pid))
                print(f"minute {minute}: {seen[-1]:.0f} MB, {sum(client.statuses.values())} requests", flush=True)
            over.set()
            for thread in threads:
                thread.join()
            for (method, path, status), count in sorted(client.statuses.items()):
                print(f"{count:7} {status} {method} {path}")
            assert not any(status >= 500 for *_, status in client.statuses), "a request ended in 5xx"
            third = len(seen) // 3
            before, after = statistics.median(seen[third : 2 * third]), statistics.median(seen[-third:])
            assert after <= 1.05 * before, f"memory grows from {before:.0f} to {after:.0f} MB"
        finally:
            server.terminate()
            assert server.wait(90) == 0, server.returncode


main()
