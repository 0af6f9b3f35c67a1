"""Games played by a policy in this process: against the real program, and against programs that go wrong."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from veriplay.games import (
    AbsoluteZero,
    Game,
    GameError,
    Generate,
    Load,
    Prompt,
    PromptTooLong,
    Rollout,
    Sampling,
    Save,
    SolVer,
    Step,
    Update,
)

SMALL = {
    "checkpoint_every": 1,
    "game.proposals_per_type": 4,
    "game.tasks_per_type": 3,
    "tasks.seeds_per_type": 12,
    "eval.tasks": 2,
    "eval.ladder_tasks": 0,
}


class Digits:
    """Proposes programs of one digit, and answers with digits; remembers how many updates it has had."""

    def __init__(self) -> None:
        self.updates: list[Update] = []
        self.learned = 0

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[list[Rollout]]:
        def rollout(prompt: Prompt, place: int) -> Rollout:
            digit = (sampling.seed // 7 + 3 * place) % 10
            text = f"def f(x):\n    return x * {digit} % 10<I>{digit}" if prompt.role == "proposer" else str(digit)
            return Rollout(text, tokens=[digit, 0], logprobs=[-2.5, -0.5], info=(place, digit))

        group = range(sampling.group_size)
        return [[rollout(prompt, 8 * at + sample) for sample in group] for at, prompt in enumerate(prompts)]

    def update(self, update: Update) -> Mapping[str, float]:
        self.updates.append(update)
        self.learned += 1
        return {"loss": 0.5, "grad_norm": float("nan")}

    def save(self, folder: Path) -> None:
        (folder / "learned").write_text(str(self.learned))

    def load(self, folder: Path) -> None:
        self.learned = int((folder / "learned").read_text())


def run_files(run: Path) -> dict[str, bytes]:
    files = (path for path in run.rglob("*") if path.is_file() and path.name != "timing.jsonl")
    return {str(path.relative_to(run)): path.read_bytes() for path in files}


def test_a_trainer_plays_and_gets_its_own_rollouts_back(binary: str, tmp_path: Path) -> None:
    trainer = Digits()
    with AbsoluteZero(out=tmp_path / "run", steps=2, settings=SMALL, binary=binary) as game:
        summary = game.play(trainer)
    assert summary is not None and summary["steps"] == 2 and summary["dropped"] == 0
    assert game.learn["learning_rate"] > 0
    assert game.run == tmp_path / "run" and game.step == 2 and summary == game.summary
    assert trainer.learned == len(trainer.updates) > 0
    for update in trainer.updates:
        assert update.normalizer and update.learning_rate > 0
        for sample in update.samples:
            assert sample.rollout.info[1] == sample.rollout.tokens[0], "the very object"
            assert (sample.role == "proposer") == sample.rollout.text.startswith("def "), sample
            assert sample.reward is not None and sample.advantage and sample.prompt.role == sample.role
            assert sample.reward == pytest.approx(sum(score * weight for _, score, weight in sample.parts))
            assert sample.scale == 1.0 and not sample.imitate and sample.group and sample.turn == 0
    events = [json.loads(line) for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines()]
    assert [(event["actor/loss"], event["actor/grad_norm"]) for event in events] == [(0.5, None)] * 2
    replay = subprocess.run([binary, "replay", tmp_path / "run", "--json"], check=True, capture_output=True)
    assert json.loads(replay.stdout)["changed"] == 0


def test_a_trainer_that_raises_resumes_to_the_same_bytes(binary: str, tmp_path: Path) -> None:
    with AbsoluteZero(out=tmp_path / "whole", steps=3, settings=SMALL, binary=binary) as game:
        game.play(Digits())

    class Failing(Digits):
        def update(self, update: Update) -> Mapping[str, float]:
            if update.step == 1:
                raise RuntimeError("out of memory")
            return super().update(update)

    with (
        pytest.raises(RuntimeError, match="out of memory"),
        AbsoluteZero(out=tmp_path / "broken", steps=3, settings=SMALL, binary=binary) as game,
    ):
        game.play(Failing())
    trainer = Digits()
    with AbsoluteZero(resume=tmp_path / "broken", binary=binary) as game:
        game.play(trainer)
    assert (trainer.learned, len(trainer.updates)) == (3, 2), "the first step's update was loaded"
    assert run_files(tmp_path / "whole") == run_files(tmp_path / "broken")


def test_the_same_as_a_loop_with_texts_alone(binary: str, tmp_path: Path) -> None:
    kinds: list[str] = []
    game = AbsoluteZero(out=tmp_path / "run", steps=100, settings=SMALL, binary=binary)
    for request in game:
        kinds.append(type(request).__name__)
        if isinstance(request, Generate):
            count = request.sampling.group_size
            with pytest.raises(ValueError, match=f"there are {len(request.prompts)} prompts, and rollouts for 0"):
                request.respond([])
            with pytest.raises(ValueError, match=f"prompt 0 has {count + 1} rollouts, and `group_size` is {count}"):
                request.respond([["x"] * (count + 1)] * len(request.prompts))
            rows = Digits().generate(request.prompts, request.sampling)
            request.respond([[one.text for one in row] for row in rows])
            with pytest.raises(GameError, match="answered already"):
                request.respond(rows)
        elif isinstance(request, Update):
            assert request.normalizer is None and all(sample.scale is None for sample in request.samples)
        elif isinstance(request, Save):
            (request.folder / "weights").write_text("none")
        elif isinstance(request, Step):
            game.stop()
    assert game.summary is None and {"Generate", "Update", "Step", "Save"} == set(kinds)
    assert (tmp_path / "run" / "checkpoints" / "step_1" / "trainer" / "weights").read_text() == "none"
    with pytest.raises(GameError, match="has been played"):
        next(iter(game))


def test_going_on_without_an_answer_is_refused(binary: str, tmp_path: Path) -> None:
    game = AbsoluteZero(out=tmp_path / "run", steps=1, settings=SMALL, binary=binary)
    with pytest.raises(GameError, match="`Generate` of step 0 was not answered: call its `respond`"):
        list(game)


def test_a_run_needs_load_to_resume_and_prefer_for_pairs(tmp_path: Path) -> None:
    class Plain:
        def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[list[str]]:
            return [["x"] * sampling.group_size] * len(prompts)

        def update(self, update: Update) -> None:
            return None

    start = {**START, "step": 4, "checkpoint": str(tmp_path)}
    with pytest.raises(GameError, match="resumes at step 4, and the trainer has no function `load`"):
        Game(binary=program(tmp_path, [start])).play(Plain())
    prefer = {"type": "prefer", "step": 0, "learning_rate": 0.1, "pairs": []}
    with pytest.raises(GameError, match="the game makes pairs, and the trainer has no function `prefer`"):
        Game(binary=program(tmp_path, [START, prefer])).play(Plain())


def test_what_the_program_refuses_is_told_with_its_hint(binary: str, tmp_path: Path) -> None:
    with pytest.raises(GameError, match=r"`game\.sft_samples` is `4`: it must be 0") as caught:
        AbsoluteZero(out=tmp_path / "run", settings={**SMALL, "game.sft_samples": 4}, binary=binary).play(Digits())
    assert caught.value.code == 3 and "hint:" in str(caught.value)
    with pytest.raises(GameError, match=r"unknown key `game\.gruop`"):
        AbsoluteZero(out=tmp_path / "run", settings={"game.gruop": 4}, binary=binary).play(Digits())
    (tmp_path / "no.toml").write_text("seed = ")
    with pytest.raises(GameError, match=r"no\.toml"):
        AbsoluteZero(tmp_path / "no.toml", binary=binary).play(Digits())


def test_arguments_that_cannot_be_are_refused_before_anything_starts() -> None:
    with pytest.raises(ValueError, match="`config` is missing: name a configuration of the game `sol_ver`"):
        SolVer(binary="/bin/false")
    with pytest.raises(ValueError, match="leave out `steps`"):
        AbsoluteZero(resume="runs/x", steps=3, binary="/bin/false")
    with pytest.raises(ValueError, match="setting `game` is of type `dict`"):
        AbsoluteZero(settings={"game": {"group_size": 4}}, binary="/bin/false")
    with pytest.raises(GameError, match="`/no/such/program` does not start"):
        AbsoluteZero(binary="/no/such/program").play(Digits())


SAMPLING = {
    "temperature": 1,
    "top_k": 0,
    "top_p": 1,
    "min_p": 0,
    "max_tokens": 2,
    "group_size": 1,
    "seed": 1,
    "stop": [],
}
PROMPT = {"role": "solver", "task_type": None, "text": "x", "messages": None, "stop": ["\n"]}
START = {"type": "start", "protocol": 1, "version": "0", "game": "absolute_zero", "run": "/r", "step": 0, "steps": 1}
START |= {"seed": 1, "checkpoint": None, "learn": {"learning_rate": 0.1}}
GENERATE = {
    "type": "generate",
    "step": 0,
    "purpose": "play",
    "first_rollout": 0,
    "prompts": [PROMPT],
    "sampling": SAMPLING,
}


def program(folder: Path, messages: Sequence[Mapping[str, Any] | str], then: str = "sys.exit(7)") -> str:
    """A program that writes messages, reads an answer after each that has one, and then does something."""
    lines = [message if isinstance(message, str) else json.dumps(message) for message in messages]
    text = f"""#!{sys.executable}
import os, signal, sys
answers = open({str(folder / "answers")!r}, "w")
for line in {lines!r}:
    print(line, flush=True)
    if '"step", "metrics"' not in line:
        print(sys.stdin.readline(), end="", file=answers, flush=True)
print("it was said", file=sys.stderr, flush=True)
{then}
"""
    path = folder / "program"
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_program_that_dies_is_told_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(GameError, match=r"the game ended with exit code 7:\nit was said") as caught:
        Game(binary=program(tmp_path, [START, GENERATE])).play(Digits())
    assert caught.value.code == 7
    killed = "os.kill(os.getpid(), signal.SIGKILL)"
    with pytest.raises(GameError, match=r"signal 9:\nit was said"):
        Game(binary=program(tmp_path, [START, GENERATE], killed)).play(Digits())


def test_what_is_no_message_is_refused(tmp_path: Path) -> None:
    cases: list[tuple[Mapping[str, Any] | str, str]] = [
        ("hello", "no message of the protocol"),
        ({"type": "party"}, "unknown type `party`"),
        ({**START, "protocol": 2}, "speaks version 2 of the protocol, and this package version 1"),
        ({**START, "game": "sol_ver"}, "plays `sol_ver`, and `AbsoluteZero` is `absolute_zero`"),
    ]
    for message, wanted in cases:
        with pytest.raises(GameError, match=wanted):
            AbsoluteZero(binary=program(tmp_path, [message])).play(Digits())


def responding(tmp_path: Path, rollout: Any) -> Callable[[], object]:
    class Trainer(Digits):
        def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> Any:
            return [[rollout]]

    return lambda: Game(binary=program(tmp_path, [START, GENERATE])).play(Trainer())


@pytest.mark.parametrize(
    ("rollout", "wanted"),
    [
        (Rollout("a\ud800"), "lone surrogates"),
        (Rollout("a", tokens=[1, 2, 3]), "has 3 tokens, and `max_tokens` is 2"),
        (Rollout("a", tokens=[-1]), "no number from 0"),
        (Rollout("a", tokens=[1], logprobs=[0.0, 0.0]), "1 tokens and 2 logprobs"),
        (Rollout("a", tokens=[1], logprobs=[float("nan")]), "not finite"),
        (Rollout("a", finish="eos"), "must be `stop` or `length`"),  # type: ignore[arg-type]
        (7, "a text or a `Rollout`, not `int`"),
    ],
)
def test_an_invalid_rollout_is_told_before_it_is_sent(tmp_path: Path, rollout: Any, wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted):
        responding(tmp_path, rollout)()


def test_a_prompt_that_is_too_long_is_said(tmp_path: Path) -> None:
    class Trainer(Digits):
        def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> Any:
            assert prompts[0].stop == ("\n",) and not prompts[0].continues
            raise PromptTooLong(0, 900, 512)

    with pytest.raises(GameError):
        Game(binary=program(tmp_path, [START, GENERATE])).play(Trainer())
    sent = (tmp_path / "answers").read_text().splitlines()[-1]
    assert json.loads(sent) == {"type": "prompt_too_long", "index": 0, "tokens": 900, "context": 512}


def test_a_resumed_run_loads_before_it_is_asked_anything(tmp_path: Path) -> None:
    (tmp_path / "learned").write_text("4")
    start = {**START, "step": 4, "checkpoint": str(tmp_path)}
    game, trainer = Game(binary=program(tmp_path, [start])), Digits()
    first = next(iter(game))
    assert isinstance(first, Load) and first.folder == tmp_path
    with pytest.raises(GameError):
        Game(binary=program(tmp_path, [start])).play(trainer)
    assert trainer.learned == 4 and json.loads((tmp_path / "answers").read_text()) == {"type": "started"}


def test_leaving_the_loop_ends_the_program(tmp_path: Path) -> None:
    game = Game(binary=program(tmp_path, [START, GENERATE], "sys.stdin.read()"))
    for _ in game:
        break
    game.close()
    assert game._child is not None and game._child.returncode is not None
    assert os.path.exists(tmp_path / "answers")
