"""`task-corpus/repositories/tabulate.py`: rows, the page, the lock, and what is not run again, with a program in place of `veriplay`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "task-corpus/repositories/tabulate.py"

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="tabulate.py needs Python 3.11")

# It writes what it was asked for into `runs`, and knows one package.
VERIPLAY = """#!/usr/bin/env python3
import json, pathlib, sys
if sys.argv[1] == "doctor":
    print(json.dumps({"checks": [{"name": "version", "detail": "veriplay 1, image 12ab"}]}))
    sys.exit()
package, options = sys.argv[3], dict(zip(sys.argv[4::2], sys.argv[5::2]))
pins = json.loads(pathlib.Path(options["--pins"]).read_text()) if "--pins" in options else None
with open("runs", "a") as runs:
    print(json.dumps([package, options.get("--tests"), options.get("--with"), pins]), file=runs)
if package == "gone==1.0":
    print("error: `pip` failed: ERROR: one\\nERROR: no such package\\nhint: another", file=sys.stderr)
    sys.exit(3)
if package == "bare==1.0":
    print("error: it has no tests\\nhint: add some", file=sys.stderr)
    sys.exit(3)
if package != "listed==1.0":
    sys.exit("error: a disk is full")
out = pathlib.Path(options["--out"])
out.mkdir(parents=True, exist_ok=True)
(out / "baseline.json").write_text(pathlib.Path("baseline.json").read_text())
(out / "timing.json").write_text('{"total_ns": 3000000000}')
"""

WHEELS = [{"name": "helper", "version": "2", "sha256": "ff"}]
TESTS = [
    {"result": "skipped", "reason": "no"},
    {"result": "xfailed", "reason": ""},
    {"result": "failed", "reason": "RuntimeError: no other thread can run"},
    {"result": "error", "reason": "no other thread can run"},
    {"result": "missing", "reason": "Traceback (most recent call last):\n  File\n  a | <b>\n"},
]
BASELINE = {
    "name": "listed",
    "version": "1.0",
    "package": "0a",
    "image": "12abcd",
    "dependencies": {"layer": "0b", "wheels": WHEELS},
    "roots": ["src", ""],
    "files": [
        {"path": "tests/test_a.py", "passed": ["p", "q"], "unsupported": TESTS, "fuel": 7},
        {"path": "pkg/test_b.py", "passed": [], "unsupported": [], "fuel": 1, "broken": "No module named 'm' here"},
    ],
}
REASONS = "2 × threads; 1 × a \\| 'b'; 1 × file broken: no module 'm'"
ROW = f"| listed 1.0 | src, tests in tests and the package | 2 (1 broken) | 7 | 2 | 2 | 1 | 1 | 1 | 1 | 3 | {REASONS} |"


class Bench:
    """A folder with a list of packages and a program in place of `veriplay`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("veriplay", VERIPLAY)
        (folder / "veriplay").chmod(0o755)
        self.write("baseline.json", json.dumps(BASELINE))
        self.write("list.toml", '[[package]]\nrequirement = "listed==1.0"\ntests = "t.zip"\nwith = ["helper==2"]\n')

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()

    def tabulate(self, *options: str) -> subprocess.CompletedProcess[str]:
        paths = ["--list", "list.toml", "--records", "records", "--veriplay", "./veriplay"]
        argv = [sys.executable, str(SCRIPT), *paths, *options]
        return subprocess.run(argv, cwd=self.folder, capture_output=True, text=True)

    def row(self, *options: str) -> dict[str, Any]:
        """The last row of a run that succeeds."""
        ended = self.tabulate("--json", *options)
        assert ended.returncode == 0, ended.stderr
        last: dict[str, Any] = json.loads(ended.stdout)["rows"][-1]
        return last

    def runs(self) -> list[list[Any]]:
        return [json.loads(line) for line in self.read("runs").splitlines()]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_table_goes_between_the_marks_of_a_page(bench: Bench) -> None:
    table = bench.tabulate().stdout
    assert table.splitlines()[2:] == [ROW]
    begin, end = "# Page\n<!-- made by `task-corpus/repositories/tabulate.py` -->", "<!-- end of the table -->\nEnd\n"
    bench.write("page.md", f"{begin}\nold\n{end}")
    for _ in range(2):
        assert bench.tabulate("--out", "page.md").stdout == ""
        assert bench.read("page.md") == f"{begin}\n\n{table}\n{end}"
    bench.tabulate("--out", "new.md")
    assert bench.read("new.md") == table


def test_what_cannot_be_recorded_is_a_row_and_a_fault_is_none(bench: Bench) -> None:
    for package, why in [("gone==1.0", "no such package"), ("bare==1.0", "it has no tests")]:
        bench.write("list.toml", f'[[package]]\nrequirement = "{package}"\n')
        assert bench.row()["failed_because"] == why
        name = package.replace("==", " ")
        assert bench.tabulate().stdout.splitlines()[2] == f"| {name} |{' |' * 10} {why} |"
    for text, told in [
        ('[[package]]\nrequirement = "full==1.0"\n', "a disk is full"),
        ('[[package]]\nrequirement = "listed"\n', "NAME==VERSION"),
        ('[[package]]\nrequirement = "listed==1.0"\ncolour = "red"\n', "colour"),
        ("[[package\n", "error"),
    ]:
        bench.write("list.toml", text)
        ended = bench.tabulate()
        assert ended.returncode == 1 and told in ended.stderr


def test_what_is_recorded_and_locked_is_not_run_again(bench: Bench) -> None:
    first = bench.row()
    assert (first["tests"], first["passed"], first["fuel"], first["dependencies"]) == (7, 2, 8, ["helper==2"])
    lock = bench.read("list.lock.json")
    assert json.loads(lock)["packages"] == {"listed==1.0": {"package": "0a", "wheels": WHEELS}}
    assert bench.row() == first and len(bench.runs()) == 1
    assert bench.row("--again") == first and bench.read("list.lock.json") == lock
    pins = {"schema_version": 1, "dependencies": {"wheels": WHEELS}}
    assert bench.runs() == [["listed==1.0", "t.zip", "helper==2", None], ["listed==1.0", "t.zip", None, pins]]

    bench.write("records/listed-1.0/baseline.json", json.dumps(BASELINE | {"image": "99"}))
    assert bench.row() == first and len(bench.runs()) == 3, "a record of another image is measured again"
    bench.write("list.lock.json", lock.replace("0a", "0c"))
    assert "digest 0a, and 0c is locked" in bench.row()["failed_because"]
    assert "0c" in bench.read("list.lock.json")
