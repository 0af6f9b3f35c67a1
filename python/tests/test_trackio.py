"""The inbox of a run of the real program, imported by the real trackio."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "trackio", reason="trackio is not installed: `VERIPLAY_TRACKIO=1 python/run_tests.sh` installs and tests it"
)

PROJECT = "veriplay-test"
SMALL = {
    "trackio": PROJECT,
    "checkpoint_every": 1,
    "game.proposals_per_type": 4,
    "game.tasks_per_type": 3,
    "game.seed_proposals": 8,
    "eval.tasks": 4,
    "eval.ladder_tasks": 0,
}
#: trackio fixes its folder when it is imported, so each import is a process.
IMPORT = f"""
import json
from trackio.server import import_inbox_once
from trackio.sqlite_storage import SQLiteStorage
count = import_inbox_once()
runs = SQLiteStorage.get_runs("{PROJECT}")
logs = SQLiteStorage.get_logs("{PROJECT}", runs[0])
print(json.dumps([count, runs, logs, SQLiteStorage.get_run_config("{PROJECT}", runs[0])]))
"""


def output(*command: str, home: Path) -> str:
    environment = {**os.environ, "TRACKIO_DIR": str(home)}
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def imported(home: Path) -> Any:
    return json.loads(output(sys.executable, "-c", IMPORT, home=home).splitlines()[-1])


def test_trackio_lists_the_run_and_its_metrics(binary: str, tmp_path: Path) -> None:
    home, run = tmp_path / "trackio", tmp_path / "my run"
    sets = [part for key, value in SMALL.items() for part in ("--set", f"{key}={value}")]
    output(binary, "play", "--config", "quickstart", "--steps", "2", *sets, "--out", str(run), home=home)
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    fragments = {path: path.read_bytes() for path in home.glob("inbox/*/*.jsonl")}
    count, runs, logs, config = imported(home)
    assert (count, runs, config["steps"]) == (2, ["my run"], 2)
    assert [log["step"] for log in logs] == [0, 1]
    assert [log["actor/entropy"] for log in logs] == [event["actor/entropy"] for event in events]

    # What a killed run writes again counts once.
    for path, record in fragments.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(record)
    output(binary, "play", "--steps", "3", "--resume", str(run), home=home)
    count, runs, logs, config = imported(home)
    assert (count, runs, [log["step"] for log in logs], config["steps"]) == (3, ["my run"], [0, 1, 2], 3)

    command = [
        sys.executable,
        "-m",
        "trackio.cli",
        "list",
        "metrics",
        "--project",
        PROJECT,
        "--run",
        "my run",
        "--json",
    ]
    listed = json.loads(output(*command, home=home))["metrics"]
    assert {"actor/loss", "play/roles/solver deduction/solve_rate", "timing/play_s"} <= set(listed)
