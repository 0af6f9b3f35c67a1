"""From what data sets carry beside a prompt (a "ground truth") to the task that attempts are judged by.

A truth travels as it is, and the service reads it by its shape: ``docs/verifying.md`` has the table. One that cannot be read is the fault of the
attempts at it alone: their verdicts have a fault of the kind ``unreadable_task``, with the field that is wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import UNREADABLE, Fault
from .records import Attempt, Task

__all__ = ["pair", "task_from"]

#: Tasks that are kept, so that the rollouts of one prompt share one.
REMEMBERED = 512

#: The format of rows whose shape says what they are.
AUTO = "auto"


def task_from(truth: Any, format: str | None = None) -> Task:
    """The task in a ground truth: a :class:`Task`, JSON text, or plain values, arrays of numpy among them.

    ``format`` names the format of the row where its shape does not say it. A truth that no JSON can hold is a task whose attempts have a fault.
    """
    if isinstance(truth, Task):
        return truth
    try:
        row = truth.decode() if isinstance(truth, bytes) else truth
        return _from_text(row, format) if isinstance(row, str) else _sendable(Task(format or AUTO, _plain(row)))
    except (TypeError, ValueError, RecursionError) as error:
        found = f"{type(truth).__name__} `{_shortened(repr(truth))}`"
        reason = f"{found} cannot be sent: {error}; hint: give JSON text, or dicts, lists, texts and numbers"
        return Task(format or AUTO, None, fault=Fault(UNREADABLE, reason))


@functools.lru_cache(maxsize=REMEMBERED)
def _from_text(text: str, format: str | None) -> Task:
    return Task(format or AUTO, text)


def _sendable(task: Task) -> Task:
    """``task``, which JSON can hold.

    Raises:
        TypeError, ValueError, RecursionError: it cannot.
    """
    _ = task.wire
    return task


def pair(tasks: Any, attempts: Iterable[Any]) -> list[Attempt]:
    """The attempts with their tasks.

    ``tasks`` is one task for all attempts, a list with one for each, or a mapping from names to tasks. A task is a :class:`Task` or a ground
    truth. An attempt is a text, an :class:`Attempt`, or a row ``{"task_id", "completion"}`` (or ``"program"``) as ``veriplay verify`` reads
    them, whose name is looked up in the mapping.

    Raises:
        ValueError: they do not fit together.
    """
    attempts = list(attempts)
    if isinstance(tasks, (Task, str, bytes)):
        task = task_from(tasks)
        return [_attempt(task, attempt) for attempt in attempts]
    if isinstance(tasks, Mapping):
        named = {name: task_from(truth) for name, truth in tasks.items()}
        return [_attempt(_look_up(named, attempt), attempt) for attempt in attempts]
    tasks = list(tasks)
    if len(tasks) != len(attempts):
        hint = "give one task, one for each attempt, or a mapping from names"
        raise ValueError(f"there are {len(tasks)} tasks for {len(attempts)} attempts; hint: {hint}")
    return [_attempt(task_from(truth), attempt) for truth, attempt in zip(tasks, attempts, strict=True)]


def _look_up(tasks: Mapping[str, Task], attempt: Any) -> Task:
    if isinstance(attempt, Attempt):
        return attempt.task
    name = attempt.get("task_id") if isinstance(attempt, Mapping) else None
    if not isinstance(name, str) or name not in tasks:
        raise ValueError(f"an attempt names the task `{name}`, which is not among the {len(tasks)} that were given")
    return tasks[name]


def _attempt(task: Task, attempt: Any) -> Attempt:
    if isinstance(attempt, Attempt):
        return attempt
    if isinstance(attempt, str):
        return Attempt(task, attempt)
    if isinstance(attempt, Mapping) and isinstance(attempt.get("completion"), str):
        return Attempt(task, attempt["completion"])
    if isinstance(attempt, Mapping) and isinstance(attempt.get("program"), str):
        return Attempt.program(task, attempt["program"])
    raise ValueError(
        f"`{_shortened(repr(attempt))}` is no attempt; hint: give a text, or a row with `completion` or `program`"
    )


def _plain(value: Any) -> Any:
    """Arrays (of numpy, say) as lists, at every depth."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"
