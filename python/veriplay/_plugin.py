"""What the programs' sides of all plug-ins share: the lines they read and write, and an episode as a line has it."""

from __future__ import annotations

import json
import math
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TextIO

#: The version of the lines.
PROTOCOL = 1


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt with its response."""

    #: A text, or messages with ``role`` and ``content``.
    prompt: Any
    response: str
    #: How many tokens the response has.
    tokens: int


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode of one role, and what became of it."""

    role: Literal["proposer", "solver", "verifier"]
    #: The kind of task, such as ``deduction``.
    kind: str
    #: Episodes of one role, kind and group answered the same question.
    group: int
    #: A proposer's: ``malformed``, ``invalid``, ``duplicate``, ``unrated`` or ``solved``.
    outcome: str | None
    #: The share of attempts at the proposer's task that were right, where the outcome is ``solved``.
    solve_rate: float | None
    #: How many of the ``judged`` attempts at a valid proposal's task solved it.
    solved: int | None
    judged: int | None
    #: 1 - the share of earlier proposals that do the same, and the share of the step's others; where ``game.proposer_factor`` names one of
    #: ``novelty`` and ``repetition``.
    novelty: float | None
    cluster_share: float | None
    #: Mean tokens of the judged attempts.
    solver_tokens: float | None
    #: A solver's or verifier's: ``accepted``, ``wrong_answer``, …
    status: str | None
    #: Whether the response has the form that the prompt asks for.
    well_formed: bool
    #: Checks that passed, of ``total``.
    passed: int | None
    total: int | None
    fuel: int | None
    #: The rule that decided, where one did, such as ``reference``; else empty.
    rule: str | None
    turns: tuple[Turn, ...]

    @property
    def response(self) -> str:
        """The last response; empty in an episode without turns."""
        return self.turns[-1].response if self.turns else ""

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> Episode:
        """An episode of a line that the program wrote."""
        return cls(**episode_fields(message))


def episode_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of :class:`Episode`, of a line that the program wrote."""
    return {
        "role": message["role"],
        "kind": message["kind"],
        "group": message["group"],
        "outcome": message.get("outcome"),
        "solve_rate": message.get("solve_rate"),
        "solved": message.get("solved"),
        "judged": message.get("judged"),
        "novelty": message.get("novelty"),
        "cluster_share": message.get("cluster_share"),
        "solver_tokens": message.get("solver_tokens"),
        "status": message.get("status"),
        "well_formed": message["well_formed"],
        "passed": message.get("passed"),
        "total": message.get("total"),
        "fuel": message.get("fuel"),
        "rule": message.get("rule"),
        "turns": tuple(Turn(turn["prompt"], turn["response"], turn["tokens"]) for turn in message["turns"]),
    }


def finite(value: Any) -> float:
    """As a number of Python's, also of numpy's or torch's; an error where there is none to learn from."""
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not finite")
    return number


def serve_plugin(plugin: str, name: str, answer: Callable[[Mapping[str, Any]], list[Any]]) -> None:
    """Answers the question of each step until the run ends: ``{"step": …, name: answer(question)}``.

    ``plugin`` is the key of ``[game]`` that the program is for. What ``answer`` prints goes to standard error.
    """
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        for line in sys.stdin:
            _answer_line(line, plugin, name, answer, answers)
    finally:
        sys.stdout = answers


def _answer_line(
    line: str, plugin: str, name: str, answer: Callable[[Mapping[str, Any]], list[Any]], answers: TextIO
) -> None:
    try:
        request = json.loads(line)
        found: dict[str, Any]
        if request["type"] == "start":
            _check_start(request, plugin)
            found = {"ready": True}
        else:
            found = {"step": request["step"], name: answer(request)}
        text = json.dumps(found, allow_nan=False)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        text = json.dumps({"error": f"{type(error).__name__}: {error}"})
    print(text, file=answers, flush=True)


def _check_start(request: Mapping[str, Any], plugin: str) -> None:
    if request["protocol"] != PROTOCOL:
        raise ValueError(
            f"this package knows version {PROTOCOL} of the lines, and the program writes {request['protocol']}"
        )
    if request["plugin"] != plugin:
        raise ValueError(f"this program serves `game.{plugin}`, and it was started for `game.{request['plugin']}`")
