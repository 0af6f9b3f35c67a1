"""The program's side of ``game.proposer_factor = "exec:COMMAND"``: a factor of each proposer's reward, for ``veriplay play``.

::

    from veriplay.own_proposer_factor import Proposal, serve

    def factor(proposal: Proposal) -> float:
        return 0.5 if "while" in proposal.response else 1.0

    serve(factor)

The reward of ``game.reward`` is multiplied by the factor, a finite number that is not negative. It should depend on the function's argument
alone: then a run that is killed and resumed is the run that was not killed. Whatever is random takes its seed from :attr:`Step.seed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veriplay._plugin import Episode, Turn, episode_fields, finite, serve_plugin

__all__ = ["Proposal", "Step", "Turn", "serve", "serve_steps"]


@dataclass(frozen=True, slots=True)
class Proposal(Episode):
    """A proposer's episode that has a reward."""

    #: By the scheme of ``game.reward``.
    reward: float

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> Proposal:
        """A proposal of a line that the program wrote."""
        return cls(**episode_fields(message), reward=message["reward"])


@dataclass(frozen=True, slots=True)
class Step:
    """The rewarded proposals of a step."""

    #: Its number, from 0.
    number: int
    #: A function of the run's seed and the step, below 2⁶⁴.
    seed: int
    proposals: tuple[Proposal, ...]


def serve(factor: Callable[[Proposal], float]) -> None:
    """Gives the factor of each proposal by itself, until the run ends."""
    serve_steps(lambda step: [factor(proposal) for proposal in step.proposals])


def serve_steps(factors: Callable[[Step], Sequence[float]]) -> None:
    """Gives the factors of all proposals of a step at once, until the run ends. What the function prints goes to standard error."""

    def answer(question: Mapping[str, Any]) -> list[float]:
        proposals = tuple(Proposal.from_json(message) for message in question["proposals"])
        return [finite(factor) for factor in factors(Step(question["step"], question["seed"], proposals))]

    serve_plugin("proposer_factor", "factors", answer)
