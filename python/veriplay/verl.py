"""verl: a reward function.

.. code-block:: yaml

    reward:
      custom_reward_function:
        path: pkg://veriplay.verl
        name: compute_score
        reward_kwargs: {patience: 600, on_fault: raise}

The ground truth of a sample is a task: see :mod:`veriplay.tasks`. The function is asynchronous; verl then awaits many at once, and they travel
together.

verl wants a number for every sample, and the same keys in every sample. An attempt without a verdict is asked for again for ``patience``
seconds. After that, and for a ground truth that cannot be read, ``on_fault`` decides: ``raise`` ends the step (the default: a zero would train
against a fault of the machine), ``zero`` gives 0.0 with ``veriplay_unjudged`` 1.0, for a reward manager that masks such samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veriplay._reward import Credit, Judge, OnFault, credit_or_fault, report_unreadable
from veriplay.records import Limits
from veriplay.tasks import task_from
from veriplay.verifier import shared_verifier

__all__ = ["compute_score"]


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,
    *,
    url: str | None = None,
    patience: float = 600.0,
    on_fault: OnFault = "raise",
    credit: Credit = "accepted",
    format: str | None = None,
    fuel: int | None = None,
    memory_bytes: int | None = None,
    seconds: float | None = None,
    judge: Judge = None,
    reward_router_address: object = None,
    reward_model_tokenizer: object = None,
) -> dict[str, float]:
    """The score of one sample.

    Args:
        url: the service; by default ``VERIPLAY_URL``, else the server of this machine.
        patience: seconds to go on without an answer.
        on_fault: ``raise`` or ``zero``.
        credit: ``accepted`` scores 1 or 0, ``fraction`` the part of the checks that passed.
        format: the format of the ground truth, where its shape does not say it.
        fuel: work that each job may do.
        memory_bytes: memory of each job.
        seconds: time limit in seconds of native Python, in place of ``fuel``.
        judge: the judge of tasks that name none, such as ``tokens`` or ``float:rtol=1e-6``.

    Returns:
        ``score``, ``acc``, and ``veriplay_passed``, ``veriplay_total``, ``veriplay_unjudged``.
    """
    verifier = shared_verifier(url, patience)
    verdict = await verifier.measure_one(
        task_from(ground_truth, format),
        solution_str,
        limits=Limits(fuel, memory_bytes, seconds),
        judge=judge,
        early_stop=credit == "accepted",
    )
    verdict = verdict.within(_place(data_source, extra_info))
    report_unreadable([verdict])
    return {
        "score": credit_or_fault(verdict, credit, on_fault),
        "acc": float(verdict.accepted),
        "veriplay_passed": float(verdict.passed),
        "veriplay_total": float(verdict.total),
        "veriplay_unjudged": float(not verdict.measured),
    }


def _place(data_source: str, extra_info: Any) -> str:
    """Where a ground truth stands: the set, the row where verl's row says which, and the field."""
    index = extra_info.get("index") if isinstance(extra_info, Mapping) else None
    row = "" if index is None else f"[{index}]"
    return f"{data_source}{row}.reward_model.ground_truth"
