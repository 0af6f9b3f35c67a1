"""verifiers (and prime-rl): a reward for any task that says what it is judged by.

.. code-block:: toml

    [env.taskset.task.rewards]
    executed = {fn = "veriplay.verifiers:executed", weight = 1.0}

The task's data carry the task in ``ground_truth``, ``verification_info``, ``tests`` or ``answer``, in the task's ``info``, or as ``task`` (see
:mod:`veriplay.tasks` for the shapes). The last reply of the trace is judged. An attempt without a verdict raises :class:`veriplay.Unmeasured`:
the trace then has an error and no reward, and is not trained on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from veriplay._reward import COLUMNS, Judge, default_judge, find_column
from veriplay.records import Task
from veriplay.tasks import task_from
from veriplay.verifier import shared_verifier

__all__ = ["executed", "passed_fraction"]


async def executed(task: Any, trace: Any, *, judge: Judge = None) -> float:
    """1.0 for an accepted reply, 0.0 for any other. ``judge`` compares outputs of tasks that name none; by default ``VERIPLAY_JUDGE``, if set.

    Raises:
        Unmeasured: there is no verdict.
    """
    truth = _truth(task)
    verifier, judge = shared_verifier(None, _patience()), judge or default_judge()
    verdict = await verifier.judge(truth.task, trace.last_reply, judge=judge, early_stop=True)
    return float(verdict.within(truth.column).require().accepted)


async def passed_fraction(task: Any, trace: Any, *, judge: Judge = None) -> float:
    """The part of the checks that the reply passed. ``judge`` as for :func:`executed`.

    Raises:
        Unmeasured: there is no verdict.
    """
    truth = _truth(task)
    verdict = await shared_verifier(None, _patience()).judge(
        truth.task, trace.last_reply, judge=judge or default_judge()
    )
    fraction = verdict.within(truth.column).require().fraction
    return 0.0 if fraction is None else fraction


def _patience() -> float:
    return float(os.environ.get("VERIPLAY_PATIENCE", "600"))


@dataclass(frozen=True)
class _Truth:
    """What a reply is judged by, and where it stands."""

    column: str
    task: Task


def _truth(task: Any) -> _Truth:
    data = getattr(task, "data", task)
    info = getattr(data, "info", None)
    columns: dict[str, Any] = dict(info) if isinstance(info, Mapping) else {}
    columns.update({name: value for name in COLUMNS if (value := getattr(data, name, None)) is not None})
    column = find_column(columns, None)
    return _Truth(column, task_from(columns[column]))
