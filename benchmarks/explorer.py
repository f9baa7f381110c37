"""The explorer under parallel clients: errors, memory, and how long an answer takes.

    python -m benchmarks.explorer [--clients 50] [--seconds 60] [--head nli=DIR --head ner=DIR --head qa=DIR] [--json]

Starts `interlingua explore` in a process of its own and asks it as its page does: each client asks, waits for the
answer, and asks again at once (a person would pause), three pairs of sentences for two layers of neighbours and one
page of rows. Rows, languages and layers are drawn by a fixed seed, so that few answers are repeated. Memory is the
server's own resident set, from /proc, after a warm-up of the same load and at four moments of the minute; processor
seconds are the server's own. First one client alone, then all of them. With --head (folders of
`transfer --save-models`) one client also asks each head about sentences of the corpus, another row its second text,
after a warm-up of its own; an
answer that there is nothing to explain (no name in both sentences) is counted apart.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from interlingua.readers import read_corpus

MIX = ("pair", "neighbours", "pair", "rows", "pair", "neighbours")


def started(languages: str, cache: str | None, heads: list[str]) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    command = [sys.executable, "-m", "interlingua", "explore", "--no-browser", "--json", "--port", "0"]
    more = ["--languages", languages, *([] if cache is None else ["--cache", cache])]
    more += [part for head in heads for part in ("--head", head)]
    process = subprocess.Popen([*command, *more], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


def request(draw: random.Random, texts: dict[str, Any], number: int) -> tuple[str, dict[str, Any]]:
    source, target = draw.sample(list(texts), 2)
    row = draw.randrange(len(texts[source]))
    languages = {"source_language": source, "target_language": target}
    kind = MIX[number % len(MIX)]
    if kind == "pair":
        return kind, {"source": texts[source][row], "target": texts[target][row], "row": row, **languages}
    if kind == "neighbours":
        return kind, {"text": texts[source][row], "language": source, "row": row, "layer": draw.randrange(9)}
    return kind, {**languages, "start": row}


def asked_of_heads(told: dict[str, Any], texts: dict[str, Any], heads: list[str], count: int) -> dict[str, Any]:
    """Milliseconds of an answer of each head, for one client, and the processor's milliseconds of the server."""
    found = {}
    for head in heads:
        draw, taken, nothing = random.Random(1), [], 0
        name = head.partition("=")[0]
        spent = 0.0
        for number in range(count + 3):
            source, target = draw.sample(list(texts), 2)
            row, second = (draw.randrange(len(texts[source])) for _ in range(2))
            asked = {"source": texts[source][row], "target": texts[target][row], "head": name,
                     "source_second": texts[source][second], "target_second": texts[target][second],
                     "source_language": source, "target_language": target}  # fmt: skip
            if number == 3:
                spent = used(told["pid"])
            begun = time.perf_counter()
            connection = http.client.HTTPConnection("127.0.0.1", told["port"], timeout=60)
            connection.request("POST", "/api/head", json.dumps(asked), headers_of(told))
            status = connection.getresponse().status
            if number >= 3:
                taken.append(time.perf_counter() - begun)
                nothing += status == 400
            connection.close()
        cpu = (used(told["pid"]) - spent) / count
        found[name] = {
            **percentiles(taken),
            "nothing to explain": nothing,
            "processor ms an answer": round(1e3 * cpu, 1),
        }
    return found


def headers_of(told: dict[str, Any]) -> dict[str, str]:
    return {"X-Interlingua-Token": told["address"].partition("token=")[2], "Content-Type": "application/json"}


def percentiles(seconds: list[float]) -> dict[str, Any]:
    taken = sorted(seconds)
    at = {f"p{q}": round(1e3 * taken[min(int(q / 100 * len(taken)), len(taken) - 1)], 1) for q in (50, 99)}
    return {"answers": len(taken), **at}


class Client(threading.Thread):
    """One client: asks until it is told to stop, over one connection."""

    def __init__(self, number: int, told: dict[str, Any], texts: dict[str, Any], stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.draw, self.told, self.texts, self.stop = random.Random(number), told, texts, stop
        self.seconds: list[tuple[str, float]] = []
        self.errors: list[str] = []

    def run(self) -> None:
        headers = headers_of(self.told)
        connection = http.client.HTTPConnection("127.0.0.1", self.told["port"], timeout=60)
        number = self.draw.randrange(len(MIX))
        while not self.stop.is_set():
            kind, asked = request(self.draw, self.texts, number)
            begun = time.perf_counter()
            try:
                connection.request("POST", f"/api/{kind}", json.dumps(asked), headers)
                reply = connection.getresponse()
                body = reply.read()
                if reply.status != 200:
                    self.errors.append(f"{reply.status} {body[:80]!r}")
            except OSError as error:
                self.errors.append(type(error).__name__)
                connection.close()
            self.seconds.append((kind, time.perf_counter() - begun))
            number += 1
        connection.close()


def load(
    clients: int, seconds: float, told: dict[str, Any], texts: dict[str, Any], *, seed: int, watched: int | None = None
) -> tuple[list[Client], list[float]]:
    """The clients after so many seconds of asking, and the memory of a process at four moments of them."""
    stop = threading.Event()
    crowd = [Client(seed + number, told, texts, stop) for number in range(clients)]
    for client in crowd:
        client.start()
    memory = []
    for _ in range(4):
        time.sleep(seconds / 4)
        memory.append(0.0 if watched is None else resident(watched))
    stop.set()
    for client in crowd:
        client.join(90)
    return crowd, memory


def resident(process: int) -> float:
    """Megabytes of its own: pages of mapped files come and go."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("RssAnon:"))


def used(process: int) -> float:
    """Processor seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def summary(crowd: list[Client], seconds: float) -> dict[str, Any]:
    found: dict[str, Any] = {"clients": len(crowd), "errors": [error for client in crowd for error in client.errors]}
    for kind in ("all", *dict.fromkeys(MIX)):
        taken = [s for client in crowd for name, s in client.seconds if kind in ("all", name)]
        if taken:
            found[kind] = percentiles(taken)
    found["answers a second"] = round(found["all"]["answers"] / seconds, 1)
    return found


def run(args: argparse.Namespace) -> dict[str, Any]:
    texts = dict(read_corpus("sampler", languages=args.languages.split(",")).texts)
    begun = time.monotonic()
    process, told = started(args.languages, args.cache, args.head)
    told["pid"] = process.pid
    try:
        found: dict[str, Any] = {"seconds to start": round(time.monotonic() - begun, 1), "load": os.getloadavg()[0]}
        load(args.clients, min(10.0, args.seconds), told, texts, seed=10_000)
        alone, _ = load(1, min(10.0, args.seconds), told, texts, seed=20_000)
        found["alone"] = summary(alone, min(10.0, args.seconds))
        found["heads"] = asked_of_heads(told, texts, args.head, args.asked)
        before, spent = resident(process.pid), used(process.pid)
        crowd, memory = load(args.clients, args.seconds, told, texts, seed=0, watched=process.pid)
        found["together"] = summary(crowd, args.seconds)
        answers = found["together"]["all"]["answers"]
        found["processor ms an answer"] = round(1e3 * (used(process.pid) - spent) / answers, 1)
        found["megabytes"] = [round(size, 1) for size in (before, *memory)]
        process.send_signal(signal.SIGTERM)
        found["exit"] = process.wait(timeout=30)
    finally:
        process.kill()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--languages", default="en,es,ru,hi,zh,ar")
    parser.add_argument("--cache", default=None)
    parser.add_argument("--head", action="append", default=[], metavar="NAME=DIR")
    parser.add_argument("--asked", type=int, default=40, help="answers of each head")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = run(args)
    if args.json:
        print(json.dumps(found))
        return
    for name in ("alone", "together"):
        one = found[name]
        print(
            f"{name}: {one['clients']} clients, {one['answers a second']} answers a second, {len(one['errors'])} errors"
        )
        for kind in ("all", *dict.fromkeys(MIX)):
            if kind in one:
                at = one[kind]
                print(f"  {kind:<11} {at['answers']:6} answers  p50 {at['p50']:8.1f} ms  p99 {at['p99']:8.1f} ms")
        for error in sorted(set(one["errors"]))[:5]:
            print(f"  error: {error}")
    for name, at in found["heads"].items():
        print(
            f"head {name}: {at['answers']} answers ({at['nothing to explain']} with nothing to explain), "
            f"p50 {at['p50']} ms, p99 {at['p99']} ms, {at['processor ms an answer']} processor ms an answer"
        )
    first, *later = found["megabytes"]
    print(f"memory: {first} MB before, then {', '.join(map(str, later))}")
    print(f"{found['processor ms an answer']} processor ms an answer")
    print(f"load of the machine at the start {found['load']:.1f}; exit code {found['exit']}")


if __name__ == "__main__":
    main()
