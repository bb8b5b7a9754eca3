"""Asks a server of `rehearsal serve` on this machine for a while, over so many connections at once, and prints requests per second, the median and
the 99th percentile of their time, and every status that was answered.

    python3 scripts/load_serve.py http://127.0.0.1:7860 photo.jpg [more.jpg …] [--connections 8] [--seconds 20]

Only the standard library; only loopback addresses. One thread per connection: it sends its next photo when the answer to the last one is there."""
import argparse, collections, http.client, ipaddress, json, sys, threading, time, urllib.parse


def ask(address, photos, first, end, taken, statuses, lock):
    connection = http.client.HTTPConnection(address, timeout=60)
    number, times, seen = first, [], collections.Counter()
    while time.perf_counter() < end:
        begun = time.perf_counter()
        connection.request("POST", "/v1/predict", photos[number % len(photos)], {"Content-Type": "image/jpeg"})
        answer = connection.getresponse()
        body = answer.read()
        times.append(time.perf_counter() - begun)
        seen[answer.status] += 1
        if answer.status == 200 and len(json.loads(body)["predictions"]) != 1:
            sys.exit(f"not one prediction: {body[:200]}")
        number += 1
    connection.close()
    with lock:
        taken.extend(times)
        statuses.update(seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("photos", nargs="+")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20)
    args = parser.parse_args()
    url = urllib.parse.urlsplit(args.url)
    if url.hostname != "localhost" and not ipaddress.ip_address(url.hostname).is_loopback:
        sys.exit(f"{url.hostname} is not this machine")
    if not 1 <= args.connections <= 200 or not 0 < args.seconds <= 900:
        sys.exit("at most 200 connections and 900 seconds")
    photos = [open(path, "rb").read() for path in args.photos]
    taken, statuses, lock = [], collections.Counter(), threading.Lock()
    begun = time.perf_counter()
    end = begun + args.seconds
    asking = [
        threading.Thread(target=ask, args=(url.netloc, photos, first, end, taken, statuses, lock)) for first in range(args.connections)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    took = time.perf_counter() - begun
    taken.sort()
    at = lambda share: 1000 * taken[min(len(taken) - 1, int(share * len(taken)))]
    print(
        f"{args.connections} connections: {len(taken) / took:.1f} requests per second, p50 {at(0.5):.0f} ms, p99 {at(0.99):.0f} ms, "
        + ", ".join(f"{count} with status {status}" for status, count in sorted(statuses.items()))
    )
    if any(status not in (200, 429) for status in statuses):
        sys.exit(1)


main()
