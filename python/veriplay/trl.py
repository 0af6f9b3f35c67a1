"""TRL: reward functions for ``GRPOTrainer`` and the other online trainers.

.. code-block:: python

    from veriplay.trl import executed
    trainer = GRPOTrainer(model=…, reward_funcs=executed, train_dataset=dataset)

The data set has a column with tasks: ``ground_truth``, ``verification_info`` … (see :mod:`veriplay.tasks` for what it may hold). A completion
without a verdict gets ``None``, which TRL leaves out of its group. So does one whose task cannot be read; the reason is logged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from veriplay._prompt import begun_reply, with_opened_frame
from veriplay._reward import Credit, Judge, credit_of, find_column, report_unreadable, text_of
from veriplay.client import PATIENCE
from veriplay.records import Limits
from veriplay.tasks import task_from
from veriplay.verifier import shared_verifier

__all__ = ["executed", "reward"]


def reward(
    *,
    column: str | None = None,
    url: str | None = None,
    patience: float = PATIENCE,
    credit: Credit = "accepted",
    format: str | None = None,
    limits: Limits = Limits(),
    judge: Judge = None,
    name: str = "executed",
) -> Callable[..., list[float | None]]:
    """A reward function.

    Args:
        column: the column with the tasks; by default the first that is there of ``task``, ``ground_truth``, ``verification_info`` …
        url: the service; by default ``VERIPLAY_URL``, else the server of this machine.
        patience: seconds to go on without an answer.
        credit: ``accepted`` scores 1 or 0, ``fraction`` the part of the checks that passed.
        format: the format of the tasks, where their shape does not say it.
        limits: limits of each job, instead of the tasks' own.
        judge: the judge of tasks that name none, such as ``tokens`` or ``float:rtol=1e-6``.
        name: the name under which TRL logs it.
    """

    def scored(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        name_of_column = find_column(columns, column)
        truths = columns[name_of_column]
        texts = [text_of(completion) for completion in completions]
        prompts = columns.get("prompts") or [""] * len(texts)
        verdicts = shared_verifier(url, patience).measure(
            [task_from(truth, format) for truth in truths],
            [with_opened_frame(begun_reply(prompt), text) for prompt, text in zip(prompts, texts, strict=True)],
            limits=limits,
            judge=judge,
            early_stop=credit == "accepted",
        )
        report_unreadable([verdict.within(name_of_column) for verdict in verdicts])
        if callable(log := columns.get("log_metric")):
            unjudged = sum(not verdict.measured for verdict in verdicts)
            log(f"{name}/unjudged", unjudged / max(1, len(verdicts)))
        return [credit_of(verdict, credit) for verdict in verdicts]

    scored.__name__ = scored.__qualname__ = name
    return scored


executed = reward()
