"""Self-play games for a policy of your own: it lives in your trainer, and the program plays, judges and rewards.

.. code-block:: python

    from veriplay.games import AbsoluteZero

    with AbsoluteZero(out="runs/mine", steps=100) as game:
        summary = game.play(trainer)

``trainer`` has ``generate(prompts, sampling)``, which returns ``sampling.group_size`` texts or :class:`Rollout` for each prompt, and
``update(update)``, which takes one optimizer step on ``update.samples``. With ``save(folder)`` and ``load(folder)`` a run can be killed
at any moment and resumed: ``AbsoluteZero(resume="runs/mine")``. The same as a loop:

.. code-block:: python

    for request in game:
        if isinstance(request, Generate):
            request.respond([[my_model(prompt.text) for _ in range(request.sampling.group_size)] for prompt in request.prompts])
        elif isinstance(request, Update):
            request.done(loss=my_step([(s.prompt, s.rollout, s.advantage) for s in request.samples]))

The program is ``veriplay play`` with ``model = "stdio"``. It writes a run directory as for any model, which ``veriplay replay`` judges again.
"""

from __future__ import annotations

import collections
import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar, Literal, Protocol

from .errors import GameError, PromptTooLong
from .local import find_binary

__all__ = [
    "AbsoluteZero",
    "BugRepair",
    "Game",
    "GameError",
    "Generate",
    "Load",
    "Pair",
    "Prefer",
    "Prompt",
    "PromptTooLong",
    "Request",
    "Rollout",
    "Sample",
    "Sampling",
    "Save",
    "SelfChallenge",
    "SolVer",
    "Step",
    "Trainer",
    "Update",
]

#: Version of the messages that this module speaks.
PROTOCOL = 1
#: Lines of the program's stderr that an error quotes.
QUOTED_LINES = 20
#: Seconds in which a program that was told to end must end.
END_SECONDS = 10.0

Role = Literal["proposer", "solver", "verifier"]


@dataclass(frozen=True)
class Prompt:
    """What the policy continues."""

    role: Role
    """``proposer`` invents tasks, ``solver`` attempts them, ``verifier`` writes tests for attempts."""
    task_type: str | None
    """The kind of task, in games that have task types."""
    text: str
    """The prompt as plain text, for a model without a chat template."""
    messages: tuple[Mapping[str, str], ...] | None
    """The conversation for a chat template, where the prompt format has one. See :attr:`continues`."""
    stop: tuple[str, ...]
    """Texts that end the response, besides the model's end token. The program cuts texts at the first of them."""

    @property
    def continues(self) -> bool:
        """Whether the response continues the last message (``continue_final_message`` of transformers)."""
        return self.messages is not None and self.messages[-1]["role"] == "assistant"


@dataclass(frozen=True)
class Sampling:
    """How to sample a response."""

    temperature: float
    """Of the softmax; 0 means greedy."""
    top_k: int
    """Draw from this many likeliest tokens; 0 means all."""
    top_p: float
    """Draw from the fewest likeliest tokens whose probabilities sum to this; 1 means all."""
    min_p: float
    """Draw from tokens at least this many times as likely as the likeliest; 0 means all."""
    max_tokens: int
    """Tokens of a response at most, the end token included."""
    group_size: int
    """Rollouts of each prompt."""
    seed: int
    """Of the request, from 0 to 2⁶⁴ - 1. A trainer that follows it makes runs that repeat."""


@dataclass
class Rollout:
    """A response of the policy."""

    text: str
    """Without the end token."""
    tokens: Sequence[int] | None = None
    """Token ids with the end token, or ``None``. Without them logs have no lengths, and updates no ``normalizer`` and ``scale``."""
    logprobs: Sequence[float] | None = None
    """Of each token, in nats, or ``None``. They are logged."""
    finish: Literal["stop", "length"] = "stop"
    """Whether it ended, or met ``max_tokens``."""
    info: Any = None
    """Anything of yours, such as tensors. It stays in this process, and samples of the step have it."""


@dataclass(frozen=True)
class Sample:
    """A rollout to learn from."""

    prompt: Prompt
    rollout: Rollout
    """The very object that the trainer returned, or one made of its text."""
    weight: float
    """What −log p of its tokens is multiplied with: the advantage times the weight of the role, or a constant if ``imitate``."""
    scale: float | None
    """Factor of each token's loss: 1, or 1 / length under ``aggregation = "sequence_mean"``. ``None`` without tokens."""
    imitate: bool
    """Whether it is a supervised example."""
    role: Role | None = None
    kind: str | None = None
    """The kind of task."""
    group: str | None = None
    """Samples of one group answered the same question."""
    episode: int | None = None
    """Samples of one role and episode are turns of one conversation."""
    turn: int | None = None
    reward: float | None = None
    """``None`` where nothing has rewards: under Sol-Ver's ``sft_dpo``. A rollout that the host failed on is never a sample."""
    parts: tuple[tuple[str, float, float], ...] = ()
    """Name, score and weight of the parts of the reward."""
    advantage: float | None = None


@dataclass(frozen=True)
class Pair:
    """Two responses to one prompt, of which one is better."""

    prompt: Prompt
    chosen: Rollout
    rejected: Rollout
    weight: float
    reference: tuple[float, float] | None
    """Log-probabilities of both under the policy that made them; ``None`` where the trainer holds the reference."""


class Request:
    """Something that the game asks of its trainer."""

    _game: Game
    _open: bool = True

    def _answer(self, message: dict[str, Any]) -> None:
        if not self._open:
            raise GameError(f"the request `{type(self).__name__}` has been answered already")
        self._game._send(message)
        self._open = False


@dataclass
class Generate(Request):
    """Asks for rollouts. Answer it with :meth:`respond`."""

    step: int
    purpose: Literal["play", "evaluate"]
    """Nothing of an evaluation comes back in an update."""
    prompts: tuple[Prompt, ...]
    sampling: Sampling
    _game: Game = field(repr=False)
    _first: int = field(repr=False)

    def respond(self, rollouts: Iterable[Iterable[Rollout | str]]) -> None:
        """Gives ``sampling.group_size`` rollouts or texts for each prompt, in the order of the prompts.

        Raises:
            ValueError: a wrong number of them, or an invalid one. Nothing was sent: respond again.
        """
        groups = [[_rollout(one) for one in group] for group in rollouts]
        if len(groups) != len(self.prompts):
            raise ValueError(f"there are {len(self.prompts)} prompts, and rollouts for {len(groups)} were given")
        for index, group in enumerate(groups):
            if len(group) != self.sampling.group_size:
                wanted = self.sampling.group_size
                raise ValueError(f"prompt {index} has {len(group)} rollouts, and `group_size` is {wanted}")
        sent = [
            [_wire(one, f"rollout {sample} of prompt {index}", self.sampling) for sample, one in enumerate(group)]
            for index, group in enumerate(groups)
        ]
        self._answer({"type": "rollouts", "rollouts": sent})
        if self.purpose == "play":
            numbers = iter(range(self._first, self._first + len(self.prompts) * self.sampling.group_size))
            self._game._keep(
                self.step,
                {
                    next(numbers): (prompt, one)
                    for prompt, group in zip(self.prompts, groups, strict=True)
                    for one in group
                },
            )

    def prompt_too_long(self, index: int, tokens: int, context: int) -> None:
        """Says that a prompt leaves no room for a response. In a later turn of an episode it ends that episode; else the run."""
        self._answer({"type": "prompt_too_long", "index": index, "tokens": tokens, "context": context})


class _Learned(Request):
    def done(
        self,
        loss: float | None = None,
        entropy: float | None = None,
        grad_norm: float | None = None,
        tokens: int = 0,
    ) -> None:
        """Says that it was learned, with numbers for ``events.jsonl``. Without the call, going on says so."""
        numbers = {"loss": loss, "entropy": entropy, "grad_norm": grad_norm}
        known = {name: float(number) for name, number in numbers.items() if number is not None}
        finite = {name: number for name, number in known.items() if math.isfinite(number)}
        self._answer({"type": "updated", "tokens": int(tokens), **finite})


@dataclass
class Update(_Learned):
    """Asks for one optimizer step: the sum over samples of ``weight · scale · Σ −log p`` of the tokens, divided by ``normalizer``."""

    step: int
    learning_rate: float
    """Of the configuration's schedule. Follow it or not."""
    normalizer: float | None
    """``None`` where rollouts had no tokens."""
    samples: tuple[Sample, ...]
    """Those of one prompt stand side by side."""
    _game: Game = field(repr=False)


@dataclass
class Prefer(_Learned):
    """Asks for one optimizer step on pairs (DPO and its kin). Sol-Ver makes them, and ``learn_from = "pairs"``."""

    step: int
    learning_rate: float
    pairs: tuple[Pair, ...]
    _game: Game = field(repr=False)


class _Stored(Request):
    step: int
    folder: Path

    def done(self) -> None:
        """Says that it is done."""
        self._answer({"type": self._answer_type})

    _answer_type: ClassVar[str]


@dataclass
class Save(_Stored):
    """Asks to save weights and optimizer into a folder, which becomes part of the checkpoint. Without ``done``, going on says so."""

    step: int
    folder: Path
    """It is renamed when the checkpoint is complete: do not keep the path."""
    _game: Game = field(repr=False)
    _answer_type = "saved"


@dataclass
class Load(_Stored):
    """Asks to load what was saved into a folder: the run resumes. Say ``done`` when the weights are those of the step."""

    step: int
    folder: Path
    _game: Game = field(repr=False)
    _answer_type = "started"


@dataclass
class Step(Request):
    """Tells that a step is complete. There is nothing to answer."""

    step: int
    metrics: Mapping[str, Any]
    """The line of ``events.jsonl``."""
    _game: Game = field(repr=False)
    _open: bool = field(default=False, repr=False)


class Trainer(Protocol):
    """What :meth:`Game.play` asks. It may also have:

    - ``prefer(request: Prefer)``, which returns as ``update`` does, for pairs;
    - ``save(folder: Path)`` and ``load(folder: Path)``, for runs that resume;
    - ``on_step(metrics)``, called after each step with its line of ``events.jsonl``.
    """

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> Iterable[Iterable[Rollout | str]]:
        """Rollouts for each prompt, in order. It may raise :class:`PromptTooLong`."""

    def update(self, update: Update, /) -> Mapping[str, float] | None:
        """Takes an optimizer step. It may return ``loss``, ``entropy``, ``grad_norm`` and ``tokens``."""


class Game:
    """A run of self-play that a trainer in this process plays. Use it in a ``with`` statement, and :meth:`play` or iterate once.

    Args:
        config: the configuration file, whose ``model`` is not used. See ``configs`` in the repository.
        out: the run directory to create; by default ``runs/NAME-seedN``.
        resume: a run directory to continue from its last checkpoint. Nothing else is given then.
        steps: steps, instead of the configuration's.
        seed: the seed, instead of the configuration's.
        settings: keys of the configuration, such as ``{"game.group_size": 4}``.
        arguments: more arguments of ``veriplay play``, such as ``["--workers", "process"]``.
        binary: the program, instead of the one that :func:`veriplay.find_binary` finds.
    """

    #: The game's name in configurations; ``None`` takes any.
    NAME: ClassVar[str | None] = None

    def __init__(
        self,
        config: str | os.PathLike[str] | None = None,
        *,
        out: str | os.PathLike[str] | None = None,
        resume: str | os.PathLike[str] | None = None,
        steps: int | None = None,
        seed: int | None = None,
        settings: Mapping[str, Any] | None = None,
        arguments: Sequence[str] = (),
        binary: str | None = None,
    ) -> None:
        given = [("config", config), ("out", out), ("steps", steps), ("seed", seed), ("settings", settings)]
        if resume is not None and (extra := [name for name, value in given if value is not None]):
            raise ValueError(f"`resume` continues a run as it was configured: leave out `{extra[0]}`")
        if resume is None and config is None and self.NAME not in (None, AbsoluteZero.NAME):
            raise ValueError(f"`config` is missing: name a configuration of the game `{self.NAME}`")
        self._command = [binary or find_binary(), "play"]
        if resume is not None:
            self._command += ["--resume", os.fspath(resume)]
        else:
            # The built-in configuration begins with what its start model proposes, and imitates answers, whose tokens only a trainer knows.
            own = {"game.answer_weight": 0.0, "game.seed_proposals": 0, "tasks.seeds_per_type": 4000}
            own = own if config is None else {}
            chosen = {**own, **(settings or {}), "model": "stdio"}
            self._command += [f"--set={key}={_toml(key, value)}" for key, value in chosen.items()]
            options = [("--config", config), ("--out", out), ("--steps", steps), ("--seed", seed)]
            for option, value in options:
                if value is not None:
                    self._command += [option, str(value)]
        self._command += arguments
        self._child: subprocess.Popen[bytes] | None = None
        self._told: collections.deque[str] = collections.deque(maxlen=QUOTED_LINES)
        self._reader: threading.Thread | None = None
        self._kept: dict[int, tuple[Prompt, Rollout]] = {}
        self._kept_step = -1
        self._stopping = False
        self.run: Path | None = None
        """The run directory, once the game has started."""
        self.step = 0
        """Steps done."""
        self.steps: int | None = None
        """Steps of the whole run."""
        self.learn: Mapping[str, Any] = {}
        """The configuration's table ``[learn]``, which is the trainer's to follow."""
        self.summary: dict[str, Any] | None = None
        """What ``veriplay play --json`` prints, once the run is complete."""

    def __enter__(self) -> Game:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def play(self, trainer: Trainer) -> dict[str, Any] | None:
        """Plays to the end. Returns the summary, or ``None`` after :meth:`stop`.

        Raises:
            GameError: the program failed, or the trainer lacks a function. What the trainer raises passes through. In both cases the run can
                be resumed from its last checkpoint.
        """
        for request in self:
            if isinstance(request, Generate):
                try:
                    rollouts = trainer.generate(request.prompts, request.sampling)
                except PromptTooLong as error:
                    request.prompt_too_long(error.index, error.tokens, error.context)
                else:
                    request.respond(rollouts)
            elif isinstance(request, Update):
                request.done(**dict(trainer.update(request) or {}))  # type: ignore[arg-type]
            elif isinstance(request, Prefer):
                request.done(**dict(self._function(trainer, "prefer", "the game makes pairs")(request) or {}))
            elif isinstance(request, Load):
                self._function(trainer, "load", f"the run resumes at step {request.step}")(request.folder)
                request.done()
            elif isinstance(request, Save) and hasattr(trainer, "save"):
                trainer.save(request.folder)
            elif isinstance(request, Step) and hasattr(trainer, "on_step"):
                trainer.on_step(request.metrics)
        return self.summary

    def __iter__(self) -> Iterator[Request]:
        """The requests, in order, until the run is complete. Each must be answered before the next."""
        if self._child is not None:
            raise GameError("this game has been played: make another one, with `resume` to continue its run")
        try:
            yield from self._requests(self._spawn())
        finally:
            self.close()

    def stop(self) -> None:
        """Ends the run after this step, with a checkpoint. Answer its requests until the iteration ends."""
        self._stopping = True
        if self._child is not None and self._child.poll() is None:
            self._child.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Ends the program now. An incomplete run can be resumed from its last checkpoint."""
        child = self._child
        if child is None or child.stdout is None or child.stdout.closed:
            return
        if child.stdin is not None:
            with contextlib.suppress(OSError):
                child.stdin.close()
        if self.summary is None and child.poll() is None:
            child.terminate()
        try:
            child.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if self._reader is not None:
            self._reader.join(END_SECONDS)
        child.stdout.close()

    def _requests(self, answers: IO[bytes]) -> Iterator[Request]:
        for line in answers:
            request = self._parse(line)
            if isinstance(request, (Generate, Update, Prefer, Save, Load, Step)):
                yield request
                self._settle(request)
            if self.summary is not None:
                break
        code = self._wait()
        if self.summary is None and not (self._stopping and code in (130, -signal.SIGINT)):
            raise self._failure("the game ended", code)

    def _settle(self, request: Request) -> None:
        """Answers what needs no answer of its own, and refuses to go on without the others."""
        if not request._open:
            return
        if isinstance(request, (Update, Prefer, Save)):
            request.done()
            return
        name, call = type(request).__name__, "respond" if isinstance(request, Generate) else "done"
        raise GameError(f"the request `{name}` of step {request.step} was not answered: call its `{call}`")  # type: ignore[attr-defined]

    def _parse(self, line: bytes) -> Request | None:
        try:
            message = json.loads(line)
            kind = message["type"]
            return self._request(kind, message)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            shown = line[:200].decode(errors="replace")
            raise GameError(
                f"the program wrote what is no message of the protocol ({error!r}): {shown}"
                f"\nhint: is `{self._command[0]}` of this package's version?"
            ) from error

    def _request(self, kind: str, message: dict[str, Any]) -> Request | None:
        if kind == "start":
            return self._started(message)
        if kind == "generate":
            stop = tuple(message["sampling"].pop("stop"))
            prompts = tuple(_prompt(one, stop) for one in message["prompts"])
            sampling = Sampling(**message["sampling"])
            step, purpose, first = message["step"], message["purpose"], message["first_rollout"]
            return Generate(step, purpose, prompts, sampling, self, first)
        if kind == "update":
            samples = tuple(self._sample(one) for one in message["samples"])
            return Update(message["step"], message["learning_rate"], message["normalizer"], samples, self)
        if kind == "prefer":
            pairs = tuple(self._pair(one) for one in message["pairs"])
            return Prefer(message["step"], message["learning_rate"], pairs, self)
        if kind == "save":
            return Save(message["step"], Path(message["folder"]), self)
        if kind == "step":
            metrics = message["metrics"]
            self.step = metrics["step"] + 1
            return Step(metrics["step"], metrics, self)
        if kind == "end":
            self.summary = message["summary"]
            return None
        raise ValueError(f"unknown type `{kind}`")

    def _started(self, message: dict[str, Any]) -> Request | None:
        if message["protocol"] != PROTOCOL:
            raise GameError(
                f"`{self._command[0]}` speaks version {message['protocol']} of the protocol, and this package version {PROTOCOL}"
                "\nhint: install both from one release"
            )
        if self.NAME not in (None, message["game"]):
            raise GameError(
                f"the configuration plays `{message['game']}`, and `{type(self).__name__}` is `{self.NAME}`"
            )
        self.run, self.step, self.steps = Path(message["run"]), message["step"], message["steps"]
        self.learn = message["learn"]
        if message["checkpoint"] is not None:
            return Load(message["step"], Path(message["checkpoint"]), self)
        self._send({"type": "started"})
        return None

    def _sample(self, row: dict[str, Any]) -> Sample:
        prompt, rollout = self._kept[row.pop("rollout")]
        row["parts"] = tuple((name, score, weight) for name, score, weight in row.get("parts", ()))
        return Sample(prompt, rollout, **row)

    def _pair(self, row: dict[str, Any]) -> Pair:
        (prompt, chosen), (_, rejected) = self._kept[row["chosen"]], self._kept[row["rejected"]]
        reference = row["reference"] and (row["reference"][0], row["reference"][1])
        return Pair(prompt, chosen, rejected, row["weight"], reference)

    def _keep(self, step: int, rollouts: dict[int, tuple[Prompt, Rollout]]) -> None:
        if step != self._kept_step:
            self._kept, self._kept_step = {}, step
        self._kept.update(rollouts)

    def _spawn(self) -> IO[bytes]:
        pipe = subprocess.PIPE
        # A session of its own: Ctrl-C in a notebook is for the trainer, which ends the program or not.
        try:
            child = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        except OSError as error:
            raise GameError(f"`{self._command[0]}` does not start: {error}") from error
        self._child = child
        assert child.stdout is not None and child.stderr is not None
        self._reader = threading.Thread(target=self._forward, args=(child.stderr,), daemon=True)
        self._reader.start()
        return child.stdout

    def _forward(self, lines: IO[bytes]) -> None:
        """Keeps the end of what the program says to people, and says it to them."""
        with lines:
            for line in lines:
                text = line.decode(errors="replace").rstrip("\n")
                self._told.append(text)
                with contextlib.suppress(OSError, ValueError):
                    print(text, file=sys.stderr)

    def _send(self, message: dict[str, Any]) -> None:
        if self._child is None or self._child.stdin is None:
            raise GameError("the game has not started")
        data = json.dumps(message, allow_nan=False).encode() + b"\n"
        try:
            self._child.stdin.write(data)
            self._child.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._failure("the game ended while it was answered", self._wait()) from error

    def _wait(self) -> int:
        """The exit code of a program that has closed its output."""
        assert self._child is not None
        try:
            code = self._child.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            code = self._child.wait()
        if self._reader is not None:
            self._reader.join(END_SECONDS)
        return code

    def _failure(self, what: str, code: int) -> GameError:
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        told = "\n".join(self._told) or "it wrote nothing to stderr"
        hint = ""
        if self.run is not None and (self.run / "config.toml").exists():
            hint = f"\nhint: resume the run with `{type(self).__name__}(resume={str(self.run)!r})`"
        return GameError(f"{what} with {how}:\n{told}{hint}", code)

    def _function(self, trainer: object, name: str, why: str) -> Any:
        function = getattr(trainer, name, None)
        if function is None:
            raise GameError(f"{why}, and the trainer has no function `{name}`: give it one")
        return function


class AbsoluteZero(Game):
    """Proposes programs, and solves deduction, abduction and induction tasks made of them. ``config`` may be left out."""

    NAME = "absolute_zero"


class SolVer(Game):
    """Writes problems, solutions and tests, and learns from what agrees."""

    NAME = "sol_ver"


class BugRepair(Game):
    """Puts bugs into repositories, and repairs them with tools, tests and patches."""

    NAME = "bug_repair"


class SelfChallenge(Game):
    """Makes tasks with verification functions in tool environments, and solves them."""

    NAME = "self_challenge"


def _prompt(row: dict[str, Any], stop: tuple[str, ...]) -> Prompt:
    messages = row["messages"] and tuple(row["messages"])
    return Prompt(row["role"], row["task_type"], row["text"], messages or None, (*row["stop"], *stop))


def _rollout(given: Rollout | str) -> Rollout:
    if isinstance(given, str):
        return Rollout(given)
    if isinstance(given, Rollout):
        return given
    raise ValueError(f"a rollout is a text or a `Rollout`, not `{type(given).__name__}`")


def _wire(one: Rollout, place: str, sampling: Sampling) -> dict[str, Any]:
    """A rollout as a message has it, checked here so that a mistake costs no run."""
    if not isinstance(one.text, str):
        raise ValueError(f"{place}: `text` is of type `{type(one.text).__name__}`, and must be a `str`")
    if any("\ud800" <= letter <= "\udfff" for letter in one.text):
        raise ValueError(f"{place}: `text` has lone surrogates: decode the tokens with `errors='replace'`")
    if one.finish not in ("stop", "length"):
        raise ValueError(f"{place}: `finish` is `{one.finish}`, and must be `stop` or `length`")
    row: dict[str, Any] = {"text": one.text, "finish": one.finish}
    if one.tokens is not None:
        row["tokens"] = tokens = [int(token) for token in one.tokens]
        if len(tokens) > sampling.max_tokens:
            raise ValueError(f"{place} has {len(tokens)} tokens, and `max_tokens` is {sampling.max_tokens}")
        if any(not 0 <= token < 1 << 32 for token in tokens):
            raise ValueError(f"{place} has a token that is no number from 0 to 2³² - 1")
    if one.logprobs is not None:
        row["logprobs"] = logprobs = [float(logprob) for logprob in one.logprobs]
        if len(logprobs) != len(row.get("tokens", ())):
            raise ValueError(f"{place} has {len(row.get('tokens', ()))} tokens and {len(logprobs)} logprobs")
        if not all(map(math.isfinite, logprobs)):
            raise ValueError(f"{place} has a logprob that is not finite")
    return row


def _toml(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(key, item) for item in value) + "]"
    raise ValueError(f"setting `{key}` is of type `{type(value).__name__}`, which no configuration has")
