"""A reward of one's own: the lines that the program reads and writes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from veriplay.own_reward import Episode, Reward, serve, serve_steps

START = {"type": "start", "protocol": 1, "game": "absolute_zero"}
PROPOSAL = {
    "role": "proposer",
    "kind": "deduction",
    "group": 0,
    "outcome": "solved",
    "solve_rate": 0.25,
    "well_formed": True,
}
PROPOSAL |= {
    "passed": 1,
    "total": 1,
    "fuel": 7,
    "rule": "",
    "turns": [{"prompt": "propose", "response": "def f", "tokens": 3}],
}
SOLUTION = {
    "role": "solver",
    "kind": "deduction",
    "group": 2,
    "status": "wrong_answer",
    "well_formed": False,
    "passed": 0,
}
SOLUTION |= {"total": 1, "fuel": 9, "rule": "4", "turns": []}


def answers(serving: Callable[[], None], requests: Sequence[Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(json.dumps(request) + "\n" for request in requests)))
    monkeypatch.setattr(sys, "stdout", written)
    serving()
    return [json.loads(line) for line in written.getvalue().splitlines()]


def step(*episodes: Any) -> dict[str, Any]:
    return {"type": "step", "step": 4, "episodes": list(episodes)}


def test_each_episode_gets_what_the_function_gives(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def reward(episode: Episode) -> Reward:
        print("seen", episode.role)
        if episode.role == "proposer":
            assert (episode.outcome, episode.solve_rate, episode.status) == ("solved", 0.25, None)
            assert (episode.response, episode.turns[0].tokens) == ("def f", 3)
            return 1.0 - 0.25
        assert (episode.status, episode.outcome, episode.response) == ("wrong_answer", None, "")
        return {"accuracy": 0, "form": -1}

    found = answers(lambda: serve(reward), [START, step(PROPOSAL, SOLUTION), step()], monkeypatch)
    assert found == [{"ready": True}, {"rewards": [0.75, {"accuracy": 0.0, "form": -1.0}]}, {"rewards": []}]
    assert capsys.readouterr().err == "seen proposer\nseen solver\n"


def test_all_episodes_of_a_step_can_be_rewarded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def rank(number: int, episodes: Sequence[Episode]) -> list[Reward]:
        return [None if episode.role == "proposer" else number for episode in episodes]

    assert answers(lambda: serve_steps(rank), [step(PROPOSAL, SOLUTION)], monkeypatch) == [{"rewards": [None, 4.0]}]


@pytest.mark.parametrize(
    ("reward", "said"),
    [(lambda _: 1 / 0, "ZeroDivisionError"), (lambda _: float("nan"), "ValueError"), (lambda _: "high", "ValueError")],
)
def test_what_goes_wrong_in_the_function_is_told_to_the_program(
    reward: Callable[[Episode], Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = answers(lambda: serve(reward), [step(SOLUTION)], monkeypatch)
    assert found["error"].startswith(said)


def test_lines_of_a_later_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = answers(lambda: serve(lambda _: 0.0), [{**START, "protocol": 2}], monkeypatch)
    assert "version 1" in found["error"]
