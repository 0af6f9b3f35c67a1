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

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from veriplay._plugin import Episode, Turn, finite, serve_plugin

__all__ = ["Episode", "Reward", "Turn", "serve", "serve_steps"]

Reward = float | Mapping[str, float] | None


def serve(reward: Callable[[Episode], Reward]) -> None:
    """Rewards each episode by itself, until the run ends."""
    serve_steps(lambda _step, episodes: [reward(episode) for episode in episodes])


def serve_steps(reward: Callable[[int, Sequence[Episode]], Sequence[Reward]]) -> None:
    """Rewards all episodes of a step at once, until the run ends. What the function prints goes to standard error."""

    def answer(question: Mapping[str, Any]) -> list[Any]:
        episodes = [Episode.from_json(message) for message in question["episodes"]]
        return [_plain(found) for found in reward(question["step"], episodes)]

    serve_plugin("reward", "rewards", answer)


def _plain(found: Reward) -> Any:
    if found is None:
        return None
    if isinstance(found, Mapping):
        return {str(name): finite(value) for name, value in found.items()}
    return finite(found)
