"""The program's side of ``game.curriculum = "exec:COMMAND"``: a curriculum of one's own for ``veriplay play``.

::

    from veriplay.own_curriculum import Task, serve

    def weight(task: Task) -> float:
        rate = task.solve_rate
        return 1.0 if rate is None else max(4 * rate * (1 - rate), 0.05)

    serve(weight)

The run draws tasks in proportion to their weights. A weight is a finite number that is not negative; tasks of weight 0 are drawn when no
other is left, and not all weights may be 0. Weights should depend on the function's argument alone: then a run that is killed and resumed is
the run that was not killed. Whatever is random takes its seed from :attr:`Step.seed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from veriplay._plugin import finite, serve_plugin

__all__ = ["SolveCount", "Step", "Task", "serve", "serve_steps"]


@dataclass(frozen=True, slots=True)
class SolveCount:
    """How many of the judged attempts at a task were right."""

    solved: int
    judged: int


@dataclass(frozen=True, slots=True)
class Task:
    """A task of the pool."""

    #: Names it: a hash of its content.
    id: str
    #: The kind of task, such as ``deduction``.
    kind: str
    #: ``seed`` where it was there before step 0, ``pool`` where a policy proposed it.
    source: Literal["seed", "pool"]
    #: The step that admitted it.
    step: int
    #: What became of the last attempts at it; None where there were none.
    last: SolveCount | None
    #: The task itself, as ``rollouts.jsonl.zst`` has it. Policies write into it: do not execute what it holds.
    content: Any

    @property
    def solve_rate(self) -> float | None:
        """The share of the last attempts that were right; None where there were none."""
        return self.last.solved / self.last.judged if self.last and self.last.judged else None

    @classmethod
    def from_json(cls, message: Mapping[str, Any]) -> Task:
        """A task of a line that the program wrote."""
        last = message["last"]
        return cls(
            id=message["id"],
            kind=message["kind"],
            source=message["source"],
            step=message["step"],
            last=None if last is None else SolveCount(last["solved"], last["judged"]),
            content=message["task"],
        )


@dataclass(frozen=True, slots=True)
class Step:
    """What a step draws from."""

    #: Its number, from 0.
    number: int
    #: A function of the run's seed and the step, below 2⁶⁴.
    seed: int
    #: The key ``game.resample_learnable``.
    learnable_weight: float
    #: All tasks of the pool, oldest first.
    tasks: tuple[Task, ...]


def serve(weight: Callable[[Task], float]) -> None:
    """Weighs each task by itself, until the run ends."""
    serve_steps(lambda step: [weight(task) for task in step.tasks])


def serve_steps(weights: Callable[[Step], Sequence[float]]) -> None:
    """Weighs all tasks of the pool at once, until the run ends. What the function prints goes to standard error."""

    def answer(question: Mapping[str, Any]) -> list[float]:
        tasks = tuple(Task.from_json(message) for message in question["tasks"])
        step = Step(question["step"], question["seed"], question["learnable_weight"], tasks)
        return [finite(weight) for weight in weights(step)]

    serve_plugin("curriculum", "weights", answer)
