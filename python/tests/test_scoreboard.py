"""The scoreboard of `benches/scoreboard`: its definitions of peers, what counts as a right answer, and the cells of its page."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benches/scoreboard"

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="benches/scoreboard needs Python 3.11")

SOUND = """title = 't'
order = 1
configured = 'c'
claims = []
meters = ['cpu']
fresh_state = true
version = ['v']
"""
COMMAND = SOUND + "command = ['sh', '{file}', 'a b']\n"


@pytest.fixture(autouse=True)
def path_of_the_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))


def test_a_definition_runs_programs_in_exactly_one_way() -> None:
    scoreboard = import_module("scoreboard")
    assert scoreboard.quote(scoreboard.parse_definition(COMMAND)["command"]) == "sh {file} 'a b'"
    for text, why in [
        (SOUND, "either `command` or `service`"),
        (COMMAND + "service = ['x', '{port}']\n", "either `command` or `service`"),
        (SOUND + "command = ['sh']\n", "no `{file}`"),
        (SOUND + "service = ['sh']\n", "no `{port}`"),
        (COMMAND.replace("cpu", "watts"), "watts"),
        (COMMAND + "colour = 'red'\n", "colour"),
        (COMMAND.replace("order = 1\n", ""), "order"),
    ]:
        with pytest.raises(scoreboard.Unfit, match=why):
            scoreboard.parse_definition(text)


def test_every_peer_of_the_repository_is_sound() -> None:
    definitions = import_module("scoreboard").read_definitions()
    assert len(definitions) >= 10 and {"python3", "veriplay-threads"} <= definitions.keys()


def test_a_report_of_isolate_is_read_by_class() -> None:
    scoreboard = import_module("scoreboard")
    report = """{"schema_version": 1, "seconds": 2.5, "contained": 1, "escaped": 1, "unclear": 1, "allowed": 0,
        "classes": [{"class": "network", "tries": "x", "contained": 0, "escaped": 1, "unclear": 0, "allowed": 0},
                    {"class": "cpu", "tries": "x", "contained": 1, "escaped": 0, "unclear": 1, "allowed": 0}],
        "probes": [{"class": "network", "name": "loopback", "verdict": "escaped"},
                   {"class": "cpu", "name": "loop", "verdict": "contained"}]}"""
    assert scoreboard.read_isolation(report, "the command") == {
        "command": "the command",
        "seconds": 2.5,
        "all": {"contained": 1, "escaped": 1, "unclear": 1},
        "classes": {
            "cpu": {"contained": 1, "escaped": 0, "unclear": 1},
            "network": {"contained": 0, "escaped": 1, "unclear": 0},
        },
        "escapes": ["network/loopback"],
    }
    with pytest.raises(scoreboard.Unfit, match="printed no report"):
        scoreboard.read_isolation("{}", "the command")


def test_an_answer_is_right_only_if_the_run_succeeded_and_printed_the_number() -> None:
    measure = import_module("measure")
    answers = [
        ("34\n", "finished", ""),
        ("", "finished", ""),
        ("34\n", "failed", "exit code 1"),
        ("", "unanswered", "lost"),
    ]
    assert measure.count_answers([(measure.Answer(*answer), "34") for answer in answers]) == {
        "right": 1,
        "wrong": 1,
        "failed": 1,
        "unanswered": 1,
        "example": "success, and `` instead of `34`",
    }
    assert measure.numbered_program()[1] != measure.numbered_program()[1]


def test_percentiles_are_nearest_ranks_and_a_process_may_have_any_name() -> None:
    measure = import_module("measure")
    assert [measure.percentile(range(1, 101), share) for share in (0.5, 0.99, 1.0)] == [50, 99, 100]
    assert measure.percentile([1], 0.99) == 1
    assert measure.parent_in("7 (a) b) R 3 7 7 0") == 3


def test_what_is_not_claimed_is_not_held_against_a_peer_and_what_could_not_run_is_shown_apart() -> None:
    page = import_module("page")
    assert [page.claim_cell(*claim) for claim in [(True, False), (False, False), (False, True)]] == [
        "**no**",
        "not claimed",
        "yes (not claimed)",
    ]
    assert page.probes_cell({"contained": 3, "escaped": 0, "unclear": 4}) == "3 of 7 (4 not run)"
    assert page.probes_cell({"contained": 3, "escaped": 1, "unclear": 0}) == "3 of 4"


@pytest.mark.parametrize(
    ("program", "patience", "ending", "stdout"),
    [
        ("print(42)", 30.0, "finished", "42\n"),
        ("print(1); raise SystemExit(3)", 30.0, "failed", "1\n"),
        ("print(1, flush=True); import time; time.sleep(60)", 0.5, "unanswered", "1\n"),
    ],
)
def test_a_command_runs_a_program_to_an_ending(program: str, patience: float, ending: str, stdout: str) -> None:
    measure, scoreboard = import_module("measure"), import_module("scoreboard")
    arguments = type("Arguments", (), {"out": Path("/nonexistent"), "veriplay": Path("veriplay")})
    peer = scoreboard.Peer("python3", {"command": [sys.executable, "{file}"]}, arguments)
    with measure.Target(peer) as target, measure.Client(target) as client:
        answer = client.run(program, measure.Limits(patience=patience))
    assert (answer.ending, answer.stdout) == (ending, stdout)
    assert not target.folder.exists()
