"""Plug-ins of one's own: the lines that their programs read and write."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from veriplay import own_curriculum, own_proposer_factor, own_reward
from veriplay.own_curriculum import Task
from veriplay.own_proposer_factor import Proposal
from veriplay.own_reward import Episode, Reward

START = {"type": "start", "protocol": 1, "plugin": "reward", "game": "absolute_zero"}
PROPOSAL = {
    "role": "proposer",
    "kind": "deduction",
    "group": 0,
    "outcome": "solved",
    "solve_rate": 0.25,
    "solved": 2,
    "judged": 8,
    "novelty": 0.97,
    "well_formed": True,
}
PROPOSAL |= {
    "passed": 1,
    "total": 1,
    "fuel": 7,
    "rule": "",
    "turns": [{"prompt": "propose", "response": "def f", "tokens": 3}],
}
SOLUTION = {
    "role": "solver",
    "kind": "deduction",
    "group": 2,
    "status": "wrong_answer",
    "well_formed": False,
    "passed": 0,
}
SOLUTION |= {"total": 1, "fuel": 9, "rule": "4", "turns": []}
SEED_TASK = {"id": "b3", "kind": "induction", "source": "seed", "step": 0, "last": None, "task": {"program": "x"}}
POOL_TASK = SEED_TASK | {"id": "c4", "source": "pool", "step": 3, "last": {"solved": 2, "judged": 8}}


def answers(serving: Callable[[], None], requests: Sequence[Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(json.dumps(request) + "\n" for request in requests)))
    monkeypatch.setattr(sys, "stdout", written)
    serving()
    return [json.loads(line) for line in written.getvalue().splitlines()]


def step(**question: Any) -> dict[str, Any]:
    return {"type": "step", "step": 4, "seed": 2**64 - 1, **question}


def rewarded(*episodes: Any) -> dict[str, Any]:
    return step(episodes=list(episodes))


def weighed(*tasks: Any) -> dict[str, Any]:
    return step(learnable_weight=2.0, tasks=list(tasks))


def multiplied(*rewards: float) -> dict[str, Any]:
    return step(proposals=[{**PROPOSAL, "reward": reward} for reward in rewards])


def test_each_episode_gets_what_the_function_gives(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def reward(episode: Episode) -> Reward:
        print("seen", episode.role)
        if episode.role == "proposer":
            assert (episode.outcome, episode.solve_rate, episode.status) == ("solved", 0.25, None)
            assert (episode.response, episode.turns[0].tokens) == ("def f", 3)
            assert (episode.solved, episode.judged, episode.novelty, episode.solver_tokens) == (2, 8, 0.97, None)
            return 1.0 - 0.25
        assert (episode.status, episode.outcome, episode.response) == ("wrong_answer", None, "")
        return {"accuracy": 0, "form": -1}

    requests = [START, rewarded(PROPOSAL, SOLUTION), rewarded()]
    found = answers(lambda: own_reward.serve(reward), requests, monkeypatch)
    assert found == [
        {"ready": True},
        {"step": 4, "rewards": [0.75, {"accuracy": 0.0, "form": -1.0}]},
        {"step": 4, "rewards": []},
    ]
    assert capsys.readouterr().err == "seen proposer\nseen solver\n"


def test_all_episodes_of_a_step_can_be_rewarded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def rank(number: int, episodes: Sequence[Episode]) -> list[Reward]:
        return [None if episode.role == "proposer" else number for episode in episodes]

    found = answers(lambda: own_reward.serve_steps(rank), [rewarded(PROPOSAL, SOLUTION)], monkeypatch)
    assert found == [{"step": 4, "rewards": [None, 4.0]}]


def test_each_task_gets_the_weight_that_the_function_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    def weight(task: Task) -> float:
        assert (task.kind, task.content) == ("induction", {"program": "x"})
        return 1 if task.solve_rate is None else task.solve_rate * task.step

    requests = [START | {"plugin": "curriculum"}, weighed(SEED_TASK, POOL_TASK)]
    found = answers(lambda: own_curriculum.serve(weight), requests, monkeypatch)
    assert found == [{"ready": True}, {"step": 4, "weights": [1.0, 0.75]}]


def test_all_tasks_of_a_step_can_be_weighed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def weights(asked: own_curriculum.Step) -> list[float]:
        assert (asked.number, asked.seed, asked.learnable_weight) == (4, 2**64 - 1, 2.0)
        sources = [task.source for task in asked.tasks]
        return [1 / sources.count(source) for source in sources]

    requests = [weighed(SEED_TASK, POOL_TASK, SEED_TASK)]
    found = answers(lambda: own_curriculum.serve_steps(weights), requests, monkeypatch)
    assert found == [{"step": 4, "weights": [0.5, 1.0, 0.5]}]


def test_a_task_whose_attempts_were_all_dropped_has_no_solve_rate() -> None:
    assert Task.from_json(POOL_TASK | {"last": {"solved": 0, "judged": 0}}).solve_rate is None


def test_each_proposal_gets_the_factor_that_the_function_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    def factor(proposal: Proposal) -> float:
        assert (proposal.role, proposal.solve_rate, proposal.response) == ("proposer", 0.25, "def f")
        return 2 if proposal.reward > 0 else 1

    requests = [START | {"plugin": "proposer_factor"}, multiplied(0.5, -0.5)]
    found = answers(lambda: own_proposer_factor.serve(factor), requests, monkeypatch)
    assert found == [{"ready": True}, {"step": 4, "factors": [2.0, 1.0]}]


def test_all_proposals_of_a_step_can_get_factors_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def factors(asked: own_proposer_factor.Step) -> list[float]:
        return [asked.number / len(asked.proposals)] * len(asked.proposals)

    found = answers(lambda: own_proposer_factor.serve_steps(factors), [multiplied(1.0, 1.0)], monkeypatch)
    assert found == [{"step": 4, "factors": [2.0, 2.0]}]


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (lambda _: 1 / 0, "ZeroDivisionError"),
        (lambda _: float("nan"), "ValueError: nan is not finite"),
        (lambda _: -float("inf"), "ValueError: -inf is not finite"),
        (lambda _: "high", "ValueError"),
    ],
)
def test_what_goes_wrong_in_the_function_is_told_to_the_program(
    reward: Callable[[Any], Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for serving, question in [
        (own_reward.serve, rewarded(SOLUTION)),
        (own_curriculum.serve, weighed(SEED_TASK)),
        (own_proposer_factor.serve, multiplied(1.0)),
    ]:
        (found,) = answers(lambda serving=serving: serving(reward), [question], monkeypatch)  # type: ignore[misc]
        assert found["error"].startswith(said)


def test_lines_of_a_later_version_or_for_another_plug_in_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = answers(lambda: own_reward.serve(lambda _: 0.0), [{**START, "protocol": 2}], monkeypatch)
    assert "version 1" in found["error"]
    (found,) = answers(lambda: own_curriculum.serve(lambda _: 1.0), [START], monkeypatch)
    assert "serves `game.curriculum`, and it was started for `game.reward`" in found["error"]


def example(name: str) -> str:
    """An example of the page, by the file that its first line names."""
    page = Path(__file__).parents[2] / "docs" / "plugins.md"
    blocks = (block.partition("\n")[2] for block in page.read_text(encoding="utf-8").split("\n```")[1::2])
    return next(block for block in blocks if block.startswith(f"# {name}"))


@pytest.mark.parametrize(
    ("name", "question", "want"),
    [
        ("my_reward.py", rewarded(PROPOSAL, SOLUTION), {"rewards": [0.75, {"accuracy": 0.0, "length": 0.0}]}),
        ("my_curriculum.py", weighed(SEED_TASK, POOL_TASK), {"weights": [1.0 * 0.9**4, 0.75 * 0.9**1]}),
        ("my_factor.py", multiplied(0.5, 0.25, -0.5), {"factors": [1 / 3, 1 / 3, 1.0]}),
    ],
)
def test_the_examples_of_the_page_answer(
    name: str, question: dict[str, Any], want: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile(example(name), name, "exec")
    names: dict[str, Any] = {"__name__": "__main__"}
    (found,) = answers(lambda: exec(program, names), [question], monkeypatch)
    assert found == {"step": 4, **want}
