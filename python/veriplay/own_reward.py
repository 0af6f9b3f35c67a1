"""The program's side of ``game.reward = "exec:COMMAND"``: a reward of one's own for ``veriplay play``.

::

    from veriplay.own_reward import Episode, serve

    def reward(episode: Episode) -> float:
        if episode.role == "proposer":
            return 1.0 - episode.solve_rate if episode.outcome == "solved" else 0.0
        return 1.0 if episode.status == "accepted" else 0.0

    serve(reward)

A reward is a number, numbers by name whose sum is the reward, or None for an episode that nothing is learned from. It should depend on its
argument alone: then a run that is killed and resumed is the run that was not killed.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TextIO

__all__ = ["Episode", "Reward", "Turn", "serve", "serve_steps"]

Reward = float | Mapping[str, float] | None


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
        return cls(
            role=message["role"],
            kind=message["kind"],
            group=message["group"],
            outcome=message.get("outcome"),
            solve_rate=message.get("solve_rate"),
            status=message.get("status"),
            well_formed=message["well_formed"],
            passed=message.get("passed"),
            total=message.get("total"),
            fuel=message.get("fuel"),
            rule=message.get("rule"),
            turns=tuple(Turn(turn["prompt"], turn["response"], turn["tokens"]) for turn in message["turns"]),
        )


def serve(reward: Callable[[Episode], Reward]) -> None:
    """Rewards each episode by itself, until the run ends."""
    serve_steps(lambda _step, episodes: [reward(episode) for episode in episodes])


def serve_steps(reward: Callable[[int, Sequence[Episode]], Sequence[Reward]]) -> None:
    """Rewards all episodes of a step at once, until the run ends. What the function prints goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        for line in sys.stdin:
            _answer(json.loads(line), reward, answers)
    finally:
        sys.stdout = answers


def _answer(
    request: Mapping[str, Any], reward: Callable[[int, Sequence[Episode]], Sequence[Reward]], answers: TextIO
) -> None:
    answer: dict[str, Any]
    try:
        if request["type"] == "start":
            if request["protocol"] != 1:
                raise ValueError(
                    f"this package knows version 1 of the lines, and the program writes {request['protocol']}"
                )
            answer = {"ready": True}
        else:
            episodes = [Episode.from_json(message) for message in request["episodes"]]
            answer = {"rewards": [_plain(found) for found in reward(request["step"], episodes)]}
        text = json.dumps(answer, allow_nan=False)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        text = json.dumps({"error": f"{type(error).__name__}: {error}"})
    print(text, file=answers, flush=True)


def _plain(found: Reward) -> Any:
    """As numbers of Python's, also of numpy's or torch's."""
    if found is None:
        return None
    if isinstance(found, Mapping):
        return {str(name): float(value) for name, value in found.items()}
    return float(found)
