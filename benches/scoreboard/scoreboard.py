#!/usr/bin/env python3
"""Measures isolation, speed and correctness under load of every sandbox that this machine can have, in one run.

    cargo build --release && python3 benches/scoreboard/scoreboard.py     # writes scoreboard.json and scoreboard.md to target/scoreboard
    python3 benches/scoreboard/scoreboard.py --peer nsjail --again        # measures one peer again

Each peer is a folder of `benches/scoreboard/peers`. It is installed by its own script, measured in turns with Veriplay in threads (the
reference), checked for what one program leaves to the next and for limits, and attacked by `veriplay isolate`. The result of each peer is a
file, so that a run that was stopped goes on where it ended. Exits with 1 if a peer has no numbers. Needs Python 3.11.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import measure
from measure import METERS, Target, Unfit, fill, last_line, require
from page import IN_FLIGHT, page

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "benches/scoreboard/peers"
# The peer that all others are measured in turns with.
REFERENCE = "veriplay-threads"
NATIVE_PYTHON = "/usr/bin/python3"


def say(text):
    print(text, file=sys.stderr, flush=True)


# `peer.toml`: what the table calls it and its place there, how it was configured and by whose advice, what its documentation claims (classes of
# probes that it contains, what it limits, whether each program starts from a fresh state), and the command that prints its version.
KEYS = {"title", "order", "configured", "claims", "meters", "fresh_state", "version"}
# Then the command that runs one program, or the one that starts a service with SandboxFusion's protocol; an isolation suite of its own; and the
# most programs of a command that run at once, where more would not fit into the memory.
OPTIONAL_KEYS = {"command", "service", "own_suite", "most_at_once"}


def parse_definition(text):
    found = tomllib.loads(text)
    wrong = KEYS - found.keys() | found.keys() - KEYS - OPTIONAL_KEYS
    require(not wrong, f"keys are missing or unknown: {', '.join(sorted(wrong))}")
    require(("command" in found) != ("service" in found), "it must have either `command` or `service`")
    key, place = ("command", "{file}") if "command" in found else ("service", "{port}")
    require(any(place in word for word in found[key]), f"`{key}` has no `{place}`")
    unknown = [meter for meter in found["meters"] if meter not in METERS]
    require(not unknown, f"`meters` names {unknown}: it may name {list(METERS)}")
    return found


def read_definitions():
    """The definition of each peer by its name, in the table's order."""
    found = {}
    for folder in PEERS.iterdir():
        try:
            found[folder.name] = parse_definition((folder / "peer.toml").read_text())
        except (Unfit, tomllib.TOMLDecodeError) as error:
            raise Unfit(f"in `{folder}/peer.toml`: {error}") from error
        require((folder / "setup.sh").is_file(), f"`{folder}` has no setup.sh")
    return dict(sorted(found.items(), key=lambda item: item[1]["order"]))


def quote(words):
    """Words for a shell, in which placeholders stay readable."""
    return " ".join(word if re.fullmatch(r"[-\w./=:{},+@%]+", word, re.ASCII) else shlex.quote(word) for word in words)


class Peer:
    def __init__(self, name, definition, arguments):
        self.name, self.definition, self.arguments = name, definition, arguments
        self.folder, self.installed = PEERS / name, arguments.out / "installed" / name
        self.argv = definition.get("command") or definition["service"]
        self.words = {"peer": self.installed, "here": self.folder, "python": NATIVE_PYTHON, "veriplay": arguments.veriplay}

    def install(self):
        """Runs the set-up, if it has not been run; the seconds that it took when it was run."""
        mark = self.installed.with_suffix(".seconds")
        if mark.is_file():
            return float(mark.read_text())
        shutil.rmtree(self.installed, ignore_errors=True)
        self.installed.mkdir(parents=True)
        given = {"HERE": self.folder, "VERIPLAY": self.arguments.veriplay, "PYTHON": NATIVE_PYTHON, "PIP": "python3 -m pip"}
        if self.arguments.sources:
            given["SOURCES"] = self.arguments.sources
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"} | {name: str(value) for name, value in given.items()}
        started = time.perf_counter()
        done = run(["bash", "-eu", self.folder / "setup.sh"], cwd=self.installed, env=environment)
        require(done.returncode == 0, f"its set-up failed: {last_line(done.stderr) or 'it printed nothing'}")
        seconds = time.perf_counter() - started
        mark.write_text(f"{seconds:.2f}\n")
        return seconds

    def version(self):
        argv = fill(self.definition["version"], self.words)
        done = run(argv)
        require(done.returncode == 0 and done.stdout.strip(), f"`{quote(argv)}` prints no version")
        return " ".join(done.stdout.split())

    def isolate(self, target):
        """The result of `veriplay isolate` on it."""
        if target.port:
            address = "sandboxfusion:http://127.0.0.1:{port}"
            [filled], shown = fill([address], {"port": target.port}), address
        else:
            filled = "cmd:exec " + quote(fill(self.argv, self.words | {"memory_bytes": measure.MEMORY}))
            shown = f"'cmd:exec {quote(self.argv)}'"
        argv = [self.arguments.veriplay, "isolate", "--json", "--target", filled]
        return run_suite(argv, f"veriplay isolate --json --target {shown}")

    def own_suite(self):
        argv = fill(self.definition.get("own_suite", []), self.words)
        return run_suite(argv, f"veriplay {quote(argv[1:])}") if argv else None


def run(argv, **options):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", **options)


def run_suite(argv, shown):
    done = run(argv)
    # 8: a probe was not contained.
    require(done.returncode in (0, 8), f"`{shown}` failed: {last_line(done.stderr)}")
    return read_isolation(done.stdout, shown)


def read_isolation(text, command):
    """What is kept of a report of `veriplay isolate --json`."""
    try:
        report = json.loads(text)
        classes = {one["class"]: count_verdicts(one) for one in report["classes"]}
        escapes = [f"{one['class']}/{one['name']}" for one in report["probes"] if one["verdict"] == "escaped"]
        kept = {"command": command, "seconds": report["seconds"], "all": count_verdicts(report)}
    except (ValueError, LookupError, TypeError) as error:
        raise Unfit(f"`{command}` printed no report: {error!r}") from error
    return kept | {"classes": dict(sorted(classes.items())), "escapes": escapes}


def count_verdicts(report):
    return {verdict: report[verdict] for verdict in ("contained", "escaped", "unclear")}


def measure_peer(peer, reference):
    """Everything about one peer. Its service is started anew for each part, so that one part's damage is not another's result."""
    load = [os.getloadavg()[0]]
    say("set-up")
    numbers = {"install_seconds": peer.install(), "version": peer.version(), "load": load}
    with Target(peer) as target:
        numbers["start_seconds"] = target.start_seconds
        say("speed")
        numbers["sequential"] = measure.speed(target, reference, 1)
        numbers["two_in_flight"] = two = measure.speed(target, reference, 2)
        say("under load")
        in_flight = min(peer.definition.get("most_at_once", IN_FLIGHT), IN_FLIGHT)
        numbers["under_load"] = measure.under_load(target, in_flight, two["programs_per_second"])
    say("memory, state and limits")
    with Target(peer) as target:
        numbers["fresh_state"] = measure.check_fresh_state(target)
        numbers["memory"] = measure.memory(target, reference)
    with Target(peer) as target:
        numbers["metering"] = measure.check_limits(target)
    say("isolation")
    with Target(peer) as target:
        numbers["isolation"] = peer.isolate(target)
    numbers["own_suite"] = peer.own_suite()
    load.append(os.getloadavg()[0])
    return numbers


def measure_all(names, definitions, arguments):
    reference_peer = Peer(REFERENCE, definitions[REFERENCE], arguments)
    reference_peer.install()
    with Target(reference_peer) as reference:
        for name in names:
            say(f"== {name}")
            definition = definitions[name]
            peer = Peer(name, definition, arguments)
            try:
                outcome = {"measured": measure_peer(peer, reference)}
            except (Unfit, OSError) as error:
                say(f"absent: {error}")
                outcome = {"absent": str(error)}
            result = {"name": name} | {key: definition[key] for key in ("title", "configured", "claims", "meters")}
            result |= {"command": quote(peer.argv), "claims_fresh_state": definition["fresh_state"]}
            result |= {"date": time.strftime("%Y-%m-%d %H:%M", time.gmtime())} | outcome
            write_json(arguments.out / "peers" / f"{name}.json", result)


def describe_machine():
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "processor": models[0].partition(":")[2].strip() if models else "unknown",
        "processors": len(os.sched_getaffinity(0)),
        "kernel": f"{os.uname().sysname} {os.uname().release}",
        "memory_mib": int(Path("/proc/meminfo").read_text().split()[1]) >> 10,
    }


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def main():
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    out = "folder of the results, and of what the peers' set-ups install [default: scoreboard in the target directory]"
    parser.add_argument("--out", type=Path, metavar="DIR", default=target / "scoreboard", help=out)
    parser.add_argument("--peer", action="append", metavar="NAME", help="only this peer [repeatable; default: all]")
    parser.add_argument("--again", action="store_true", help="measure again what has been measured")
    veriplay = "the program `veriplay` [default: release/veriplay in the target directory]"
    parser.add_argument("--veriplay", type=Path, metavar="PATH", default=target / "release/veriplay", help=veriplay)
    sources = "a folder with copies of repositories that peers are cloned from, for machines that cannot reach their hosts"
    parser.add_argument("--sources", type=lambda path: Path(path).resolve(strict=True), metavar="DIR", help=sources)
    parser.add_argument("--list", action="store_true", help="list the peers and measure none")
    arguments, definitions = parser.parse_args(), read_definitions()
    names = arguments.peer or list(definitions)
    for name in names:
        require(name in definitions, f"there is no peer `{name}`\nhint: `benches/scoreboard/scoreboard.py --list` lists them")
    if arguments.list:
        print("\n".join(f"{name:<20} {definition['title']}" for name, definition in definitions.items()))
        return True
    arguments.out, arguments.veriplay = arguments.out.resolve(), arguments.veriplay.resolve()
    hint = "hint: `cargo build --release`, or name one by `--veriplay`"
    require(arguments.veriplay.is_file(), f"there is no program `{arguments.veriplay}`\n{hint}")
    results = {name: arguments.out / "peers" / f"{name}.json" for name in definitions}
    (arguments.out / "peers").mkdir(parents=True, exist_ok=True)
    due = [name for name in definitions if name in names and (arguments.again or not results[name].exists())]
    if due:
        measure_all(due, definitions, arguments)
    peers = [json.loads(path.read_text()) for path in results.values() if path.exists()]
    scoreboard = {"schema_version": 1, "machine": describe_machine(), "peers": peers}
    write_json(arguments.out / "scoreboard.json", scoreboard)
    (arguments.out / "scoreboard.md").write_text(page(scoreboard))
    return all("measured" in peer for peer in peers)


if __name__ == "__main__":
    try:
        sys.exit(0 if main() else 1)
    except (Unfit, OSError) as error:
        say(f"error: {error}")
        sys.exit(1)
