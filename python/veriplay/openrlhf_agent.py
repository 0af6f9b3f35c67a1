"""OpenRLHF: a file with an ``AgentExecutor``, for episodes in which the policy sees that its program failed, and writes another one.

.. code-block:: sh

    --train.agent_func_path "$(python -c 'import veriplay; print(veriplay.__path__[0])')/openrlhf_agent.py"
    --data.label_key ground_truth

A label is a task: see :mod:`veriplay.tasks`. The last code of each action is judged. The reward of an episode is that of its last program,
also where the feedback leaves no room for another one.
For other settings write a file of your own, and name that:

.. code-block:: python

    from veriplay.openrlhf_agent import executor
    AgentExecutor = executor(turns=3, template="\\n<|im_start|>user\\n{feedback}<|im_end|>\\n<|im_start|>assistant\\n")

The feedback has the status and the number of tests that passed, and nothing of the tests. An attempt without a verdict is asked for again for
``patience`` seconds (``VERIPLAY_PATIENCE``, 600). After that ``on_fault`` (``VERIPLAY_ON_FAULT``) decides: ``raise`` ends the training,
``zero`` ends the episode with 0.0, and ``veriplay_unjudged`` 1.0 in the logs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from veriplay._prompt import with_opened_frame
from veriplay._reward import Credit, Judge, OnFault, credit_or_fault, default_judge, default_on_fault, report_unreadable
from veriplay.records import Verdict
from veriplay.tasks import task_from
from veriplay.verifier import shared_verifier

if TYPE_CHECKING:

    class AgentInstanceBase:
        """What is used of OpenRLHF's."""

    class MultiTurnAgentExecutor:
        """What is used of OpenRLHF's."""

        def __init__(self, agent_instance_cls: type[AgentInstanceBase]) -> None: ...

else:
    from openrlhf.utils.agent import AgentInstanceBase, MultiTurnAgentExecutor

__all__ = ["AgentExecutor", "executor"]

#: What stands between an action and the next, for models without markers of turns.
TEMPLATE = "\n\nUser: {feedback}\n\nAssistant: "


class Reward(float):
    """A reward that gives its number as a tensor does, which is all that OpenRLHF asks of it."""

    def item(self) -> float:
        """The number."""
        return float(self)


def executor(
    *,
    turns: int = 2,
    template: str = TEMPLATE,
    url: str | None = None,
    patience: float | None = None,
    on_fault: OnFault | None = None,
    credit: Credit = "accepted",
    judge: Judge = None,
) -> type[MultiTurnAgentExecutor]:
    """An ``AgentExecutor`` with these settings.

    Args:
        turns: how many programs an episode may have.
        template: what the model reads after a wrong program, with its chat template's markers of turns; ``{feedback}`` is the feedback.
        url: the service; by default ``VERIPLAY_URL``, else the server of this machine.
        patience: seconds to go on without an answer.
        on_fault: ``raise`` or ``zero``.
        credit: ``accepted`` rewards 1 or 0, ``fraction`` the part of the checks that passed.
        judge: the judge of tasks that name none; by default ``VERIPLAY_JUDGE``, if set.

    Raises:
        ValueError: there is no turn, or the template has no place for the feedback.
    """
    if turns < 1:
        raise ValueError(f"`turns` is {turns}; hint: an episode has one or more")
    if "{feedback}" not in template:
        raise ValueError("`template` has no `{feedback}`; hint: the model would not learn that its program is wrong")

    class AgentInstance(AgentInstanceBase):
        """One episode."""

        def __init__(self) -> None:
            self._turn, self._given = 0, 0.0

        async def reset(self, states: dict[str, Any], **_: object) -> dict[str, Any]:
            """The first observation is the prompt."""
            self._turn, self._given = 0, 0.0
            return states

        async def step(self, state_dict: Mapping[str, Any], **_: object) -> dict[str, Any]:
            """Judges an action."""
            before = template if self._turn else state_dict["observation_text"]
            self._turn += 1
            seconds = float(os.environ.get("VERIPLAY_PATIENCE", "600")) if patience is None else patience
            verdict = await shared_verifier(url, seconds).measure_one(
                task_from(state_dict["label"]),
                with_opened_frame(before, state_dict["action_text"]),
                judge=judge or default_judge(),
                # The feedback counts the tests that passed.
                early_stop=credit == "accepted" and turns == 1,
            )
            verdict = verdict.within("label")
            report_unreadable([verdict])
            reward = credit_or_fault(verdict, credit, (on_fault or default_on_fault()) if verdict.readable else "zero")
            # OpenRLHF adds up the rewards of an episode, and ends one whose context the feedback fills without asking for another step. So the
            # sum is that of the last program after every turn.
            change, self._given = reward - self._given, reward
            done = verdict.accepted or not verdict.measured or self._turn == turns
            return {
                "rewards": Reward(change),
                "scores": Reward(reward),
                "environment_feedback": "" if done else template.replace("{feedback}", _feedback(verdict)),
                "done": done,
                "sampling_params": state_dict.get("sampling_params"),
                "extra_logs": {
                    "veriplay_accepted": float(verdict.accepted),
                    "veriplay_unjudged": float(not verdict.measured),
                    "veriplay_turns": float(self._turn),
                },
            }

    class Executor(MultiTurnAgentExecutor):
        """Plays the episodes."""

        def __init__(self) -> None:
            super().__init__(AgentInstance)

    return Executor


def _feedback(verdict: Verdict) -> str:
    status = str(verdict.status).replace("_", " ")
    passed = f"{verdict.passed} of {verdict.total} tests passed" if verdict.total else "no test ran"
    return f"The program is not right ({status}; {passed}). Write the whole program again."


#: What OpenRLHF loads from this file.
AgentExecutor = executor()
