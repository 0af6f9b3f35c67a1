"""SkyRL: an environment of one turn for skyrl-gym.

.. code-block:: python

    from skyrl_gym.envs import register
    register(id="veriplay", entry_point="veriplay.skyrl:CodeEnv")

with ``environment.env_class=veriplay``. ``reward_spec.ground_truth`` of a row is a task: see :mod:`veriplay.tasks`.

SkyRL wants a number for every step. An attempt without a verdict is asked for again for ``patience`` seconds (``env_config``, 600), and raises
after that; with ``on_fault: zero`` it gets 0.0, and ``unjudged`` 1.0 in the step's metadata. ``judge`` of ``env_config`` compares the
outputs of tasks that name no judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from veriplay._reward import credit_or_fault, report_unreadable
from veriplay.records import Verdict
from veriplay.tasks import task_from
from veriplay.verifier import shared_verifier

if TYPE_CHECKING:

    class BaseTextEnv:
        """What is used of skyrl-gym's."""

        def __init__(self) -> None: ...

else:
    from skyrl_gym.envs.base_text_env import BaseTextEnv

__all__ = ["CodeEnv"]


class CodeEnv(BaseTextEnv):
    """Judges the one action of an episode."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        spec = (extras or {}).get("reward_spec")
        if not isinstance(spec, Mapping) or "ground_truth" not in spec:
            raise KeyError(
                "`reward_spec.ground_truth` is missing from the row; hint: it says what an action is judged by"
            )
        self._settings = dict(env_config) if env_config is not None else {}
        self._task = task_from(spec["ground_truth"], self._settings.get("format"))
        self._verdict: Verdict | None = None

    def step(self, action: str) -> dict[str, Any]:
        """Judges the action, and ends the episode."""
        verifier = shared_verifier(self._settings.get("url"), float(self._settings.get("patience", 600.0)))
        credit = self._settings.get("credit", "accepted")
        judge = self._settings.get("judge")
        (verdict,) = verifier.measure(self._task, [action], judge=judge, early_stop=credit == "accepted")
        self._verdict = verdict = verdict.within("reward_spec.ground_truth")
        report_unreadable([verdict])
        reward = credit_or_fault(verdict, credit, self._settings.get("on_fault", "raise"))
        metadata = {
            "status": verdict.status,
            "passed": verdict.passed,
            "total": verdict.total,
            "unjudged": not verdict.measured,
        }
        return {"observations": [], "reward": reward, "done": True, "metadata": metadata}

    def get_metrics(self) -> dict[str, float]:
        """Of the episode."""
        if self._verdict is None:
            return {}
        return {"accepted": float(self._verdict.accepted), "unjudged": float(not self._verdict.measured)}
