#!/usr/bin/env python3
"""Runs the tests of many packages in the sandbox, and makes a table of their results.

    cargo build --release && python3 task-corpus/repositories/tabulate.py --out docs/repositories.md

Each package is recorded by `veriplay corpus add-repo`, so that a run that was stopped goes on where it ended. A package that cannot be
recorded has a row with the reason. `packages.lock.json`, next to the list, pins the files and the dependencies of each by content. Needs
Python 3.11.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The marks around the table in a page: only what is between them is replaced.
BEGIN = "<!-- made by `task-corpus/repositories/tabulate.py` -->"
END = "<!-- end of the table -->"
# The code that `veriplay` exits with where it cannot use what it was given. Any other is a fault of ours or of the host's.
UNUSABLE = 3

# The column of each result that is not a pass; all others are `unsupported`: they end the interpreter, use up a limit, or pass once alone.
COLUMNS = {
    "failed": "failed",
    "error": "failed",
    "skipped": "skipped",
    "xfailed": "expected_failures",
    "xpassed": "expected_failures",
}
HAVE_COLUMNS = {"skipped", "xfailed", "xpassed"}

# How many reasons a row of the Markdown table shows, and how many characters of a message that stands for itself.
SHOWN, MESSAGE_CHARS = 4, 70
# Parts of messages, and what they stand for. The first match counts.
REASONS = {
    "no other thread can run": "threads",
    "Fuel limit": "more fuel than a file has",
    "MemoryBytes limit": "memory",
    "MemoryError": "memory",
    "maximum recursion depth": "recursion",
    "fixture '": "a fixture of a pytest plugin",
    "available fixtures:": "a fixture of a pytest plugin",
    "module 'os' has no attribute": "a system call that wasi lacks",
    "C extension": "a compiled extension",
    "processes are not available": "subprocesses",
    "fork": "subprocesses",
    "subprocess": "subprocesses",
    "_posixsubprocess": "subprocesses",
    "pty": "terminals",
    "signal": "signals",
    "socket": "sockets",
    "tzset": "time zones of the system",
    "ZoneInfoNotFoundError": "time zones of the system",
    "No time zone found": "time zones of the system",
    "cannot fit 'int' into an index-sized integer": "32-bit integers",
    "too large to convert to C": "32-bit integers",
    "it passed once": "another result with another seed",
}


class Unfit(Exception):
    """What the user gave cannot be used, or `veriplay` failed."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def read_list(path):
    """The packages: each with `requirement`, and perhaps with `tests` and `with`."""
    packages = tomllib.loads(path.read_text()).get("package", [])
    for package in packages:
        name, found, version = package.get("requirement", "").partition("==")
        if not (name and found and version and package.keys() <= {"requirement", "tests", "with"}):
            raise Unfit(f"`{path}`: {package}: it has `requirement = \"NAME==VERSION\"`, and perhaps `tests` and `with`")
    return packages


def lock_entry(baseline):
    return {"package": baseline["package"], "wheels": baseline.get("dependencies", {}).get("wheels", [])}


def add_repo(veriplay, package, locked, directory, workers):
    """Runs the tests of a package. Returns why it cannot be recorded, `None` where it is."""
    argv = [veriplay, "corpus", "add-repo", package["requirement"], "--out", directory, "--workers", workers]
    if "tests" in package:
        argv += ["--tests", package["tests"]]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as pins:
        if locked:
            json.dump({"schema_version": 1, "dependencies": {"wheels": locked["wheels"]}}, pins)
            pins.flush()
            argv += ["--pins", pins.name]
        else:
            argv += [word for requirement in package.get("with", []) for word in ("--with", requirement)]
        ended = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode not in (0, UNUSABLE):
        raise Unfit(f"{package['requirement']}: `add-repo` exited with {ended.returncode}\n{ended.stderr}")
    return failure_line(ended.stderr) if ended.returncode else None


def failure_line(text):
    """The line of an error that names the cause: pip's last one, where pip failed."""
    lines = [line.strip() for line in text.splitlines()]
    ours = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    pips = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (pips[-1:] or ours or [text.strip()])[0]


def read_json(path):
    return json.loads(path.read_text()) if path.exists() else None


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def record(package, lock, image, arguments):
    """The row of a package, from the record that is there or a new one; a new one is put into the lock."""
    requirement = package["requirement"]
    name, _, version = requirement.partition("==")
    directory, locked = arguments.records / f"{name}-{version}", lock["packages"].get(requirement)
    baseline = read_json(directory / "baseline.json")
    recorded = baseline and baseline["image"].startswith(image) and lock_entry(baseline) == locked
    if arguments.again or not recorded:
        why = add_repo(arguments.veriplay, package, locked, directory, arguments.workers)
        if why:
            return {"name": name, "version": version, "failed_because": why}
        baseline = read_json(directory / "baseline.json")
        found = baseline["package"]
        if locked and locked["package"] != found:
            why = f"its files have digest {found}, and {locked['package']} is locked; to accept them, remove it from the lock"
            return {"name": name, "version": version, "failed_because": why}
        lock["packages"][requirement] = lock_entry(baseline)
        lock["packages"] = dict(sorted(lock["packages"].items()))
        write_json(arguments.list.with_suffix(".lock.json"), lock)
    timing = read_json(directory / "timing.json") or {"total_ns": 0}
    return recorded_row(baseline, timing["total_ns"] / 1e9)


def recorded_row(baseline, wall_s):
    files = baseline["files"]
    others = [test for file in files for test in file["unsupported"]]
    passed = sum(len(file["passed"]) for file in files)
    results = Counter(COLUMNS.get(test["result"], "unsupported") for test in others)
    reasons = Counter(reason(test["reason"]) for test in others if test["result"] not in HAVE_COLUMNS)
    reasons.update(f"file broken: {reason(file['broken'])}" for file in files if file.get("broken"))
    return {
        "name": baseline["name"],
        "version": baseline["version"],
        "layout": layout(baseline["roots"], [file["path"] for file in files]),
        "test_files": len(files),
        "broken_files": sum(bool(file.get("broken")) for file in files),
        "tests": passed + len(others),
        "passed": passed,
        **{column: results[column] for column in ("failed", "skipped", "expected_failures", "unsupported")},
        "reasons": [{"why": why, "count": count} for why, count in sorted(reasons.items(), key=by_count)],
        "dependencies": [f"{wheel['name']}=={wheel['version']}" for wheel in lock_entry(baseline)["wheels"]],
        "notes": baseline.get("notes", []),
        "fuel": sum(file["fuel"] for file in files),
        "wall_s": wall_s,
    }


def by_count(counted):
    return -counted[1], counted[0]


def reason(message):
    """What a message stands for; or its own first line, and of a traceback the last."""
    _, found, module = message.partition("No module named ")
    if found:
        return f"no module {(module.split() or [''])[0]}"
    for part, why in REASONS.items():
        if part in message:
            return why
    lines = message.splitlines() or [""]
    if message.startswith("Traceback"):
        lines = [line.strip() for line in reversed(lines) if line.strip()]
    return lines[0][:MESSAGE_CHARS]


def layout(roots, test_files):
    """Where a repository has its code and its tests, in words."""
    folders = set()
    for path in test_files:
        top, slash, _ = path.partition("/")
        inside = top if top in ("tests", "test", "testing") else "the package"
        folders.add(inside if slash else "the root")
    return f"{next(iter(roots), '') or 'flat'}, tests in {' and '.join(sorted(folders))}"


HEADER = """\
| package | layout | test files | tests | passed | failed | skipped | xfail | unsupported | wheels | seconds | why the rest does not pass |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def markdown(row):
    package = f"{row['name']} {row['version']}"
    if "failed_because" in row:
        return f"| {package} |{' |' * 10} {escape(row['failed_because'])} |\n"
    broken = f" ({row['broken_files']} broken)" if row["broken_files"] else ""
    counts = [row[key] for key in ("tests", "passed", "failed", "skipped", "expected_failures", "unsupported")]
    counts += [len(row["dependencies"]), f"{row['wall_s']:.0f}"]
    why = "; ".join(f"{found['count']} × {escape(found['why'])}" for found in row["reasons"][:SHOWN])
    cells = [package, row["layout"], f"{row['test_files']}{broken}", *map(str, counts), why]
    return f"| {' | '.join(cells)} |\n"


def escape(text):
    return text.replace("|", "\\|").replace("<", "'").replace(">", "'")


def splice(page, table):
    """The page with the table between its marks; the table alone where the page has none."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n\n{table}\n{end}{after}" if end else table


def image_of(veriplay):
    """The first digits of the image's digest."""
    checks = json.loads(subprocess.run([veriplay, "doctor", "--json"], stdout=subprocess.PIPE, text=True).stdout)["checks"]
    return next(check["detail"].split()[-1] for check in checks if check["name"] == "version")


def main():
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    cache = os.environ.get("VERIPLAY_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "veriplay"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    packages = "the list of packages [default: `packages.toml` beside this script]"
    parser.add_argument("--list", type=Path, metavar="FILE", default=Path(__file__).with_name("packages.toml"), help=packages)
    page = "Markdown file for the table, which goes between its marks where the page has them [default: print it]"
    parser.add_argument("--out", type=Path, metavar="FILE", help=page)
    parser.add_argument("--again", action="store_true", help="also run the tests of packages that are recorded already")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--workers", choices=["thread", "process"], default="thread", help="where guests run")
    records = "where repositories are kept [default: Veriplay's cache]"
    parser.add_argument("--records", type=Path, metavar="DIR", default=Path(cache, "repositories"), help=records)
    veriplay = "the program `veriplay` [default: release/veriplay in the target directory]"
    parser.add_argument("--veriplay", type=Path, metavar="PATH", default=target / "release/veriplay", help=veriplay)
    arguments = parser.parse_args()
    arguments.veriplay = arguments.veriplay.resolve()
    packages = read_list(arguments.list)
    lock = read_json(arguments.list.with_suffix(".lock.json")) or {"schema_version": 1, "packages": {}}
    image, rows = image_of(arguments.veriplay), []
    for package in packages:
        row = record(package, lock, image, arguments)
        found = row.get("failed_because") or f"{row['passed']} of {row['tests']} tests passed; {row['wall_s']:.1f} s"
        say(f"{package['requirement']}: {found}")
        rows.append(row)
    table = HEADER + "".join(map(markdown, rows))
    if arguments.out:
        arguments.out.write_text(splice(arguments.out.read_text() if arguments.out.exists() else "", table))
    if arguments.json:
        print(json.dumps({"schema_version": 1, "rows": rows}))
    elif not arguments.out:
        print(table, end="")


if __name__ == "__main__":
    try:
        main()
    except (Unfit, OSError, tomllib.TOMLDecodeError) as error:
        say(f"error: {error}")
        sys.exit(1)
