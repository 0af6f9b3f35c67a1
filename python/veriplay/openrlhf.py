"""OpenRLHF: a file with ``reward_func``.

.. code-block:: sh

    --reward.remote_url "$(python -c 'import veriplay.openrlhf as f; print(f.__file__)')" --data.label_key ground_truth

A label is a task: see :mod:`veriplay.tasks`. What stands in a query behind the prompt is judged, as the service's ``/get_reward`` does it, by
the judge that ``VERIPLAY_JUDGE`` names where the label names none.

OpenRLHF has no word for a reward that was not measured: an exception here is logged, and the sample goes on without a reward, which the
trainer then fails on. So an attempt without a verdict is asked for again for ``VERIPLAY_PATIENCE`` seconds (600), and raises after that;
``VERIPLAY_ON_FAULT=zero`` gives 0.0 instead, with ``veriplay_unjudged`` 1.0 in the logs. So does a label that cannot be read, always, and the
reason is logged.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from veriplay._prompt import response_of_query, with_opened_frame
from veriplay._reward import Judge, credit_or_fault, default_judge, default_on_fault, report_unreadable
from veriplay.records import Verdict
from veriplay.tasks import task_from
from veriplay.verifier import shared_verifier

__all__ = ["reward_func"]


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], *, judge: Judge = None, **_: object
) -> dict[str, Any]:
    """Scores queries. One query gets plain numbers, as OpenRLHF's single-turn executor wants them; several get lists."""
    patience = float(os.environ.get("VERIPLAY_PATIENCE", "600"))
    asked = zip(queries, prompts, strict=True)
    answers = [with_opened_frame(prompt, response_of_query(query, prompt)) for query, prompt in asked]
    verdicts = shared_verifier(None, patience).measure(
        [task_from(label) for label in labels], answers, judge=judge or default_judge(), early_stop=True
    )
    verdicts = [verdict.within(f"labels[{at}]") for at, verdict in enumerate(verdicts)]
    report_unreadable(verdicts)
    rewards = [_reward(verdict) for verdict in verdicts]
    logs = {
        "veriplay_accepted": [float(verdict.accepted) for verdict in verdicts],
        "veriplay_unjudged": [float(not verdict.measured) for verdict in verdicts],
    }
    if len(rewards) == 1:
        return {
            "rewards": rewards[0],
            "scores": rewards[0],
            "extra_logs": {name: values[0] for name, values in logs.items()},
        }
    return {"rewards": rewards, "scores": rewards, "extra_logs": logs}


def _reward(verdict: Verdict) -> float:
    """One label that cannot be read must not cost the other samples their rewards, so it never raises."""
    return credit_or_fault(verdict, "accepted", default_on_fault() if verdict.readable else "zero")
