"""Absolute Zero as the environment of TRL's ``GRPOTrainer``: TRL generates, computes advantages and losses, and takes the optimizer steps.

.. code-block:: python

    from trl import GRPOConfig, GRPOTrainer
    from veriplay.trl_games import SelfPlay

    args = GRPOConfig("runs/trl", max_steps=100, num_generations=8, per_device_train_batch_size=108, gradient_accumulation_steps=8, …)
    with SelfPlay(args) as play:
        trainer = GRPOTrainer(
            model="models/tiny",
            args=args,
            rollout_func=play.rollout,
            reward_funcs=play.reward_funcs,
            train_dataset=play.dataset,
            callbacks=[play.callback],
        )
        trainer.train()

A step of the game is one generation batch of the trainer, with the proposals and the attempts at tasks made of them: what a proposer gets
depends on how its task is solved. The game's own rewards are the trainer's. Whatever has none (the host failed, or nobody attempted the
proposal) is ``None`` for TRL and masked in the loss, so it is never a reward of 0.

The game keeps its run directory in the trainer's output directory. It saves at the trainer's steps, first, so that each of the trainer's
checkpoints has the game's of the same step: ``trainer.train(resume_from_checkpoint=True)`` continues both.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .games import (
    AbsoluteZero,
    GameError,
    Generate,
    Load,
    Prompt,
    Request,
    Rollout,
    Sample,
    Sampling,
    Save,
    Update,
)

try:
    import datasets
    import torch
    from transformers import TrainerCallback
except ImportError as error:
    raise ImportError("`veriplay.trl_games` needs TRL; hint: `pip install trl`") from error

__all__ = ["SelfPlay"]

log = logging.getLogger(__name__)

#: The run directory, in the trainer's output directory.
RUN = "game"
ROLES = ("proposer", "solver")
#: What a configuration may make shorter than the trainer's arguments.
LENGTHS = [f"game.{role}_max_tokens" for role in ROLES]


@dataclass(frozen=True)
class Row:
    """A completion as TRL trains on it."""

    prompt: Sequence[int]
    completion: Sequence[int]
    rollout: Rollout | None = None
    """``None`` fills a group that the game left incomplete."""


class SelfPlay:
    """A run of Absolute Zero that a ``GRPOTrainer`` plays. Give the trainer its :meth:`rollout`, :attr:`reward_funcs`, :attr:`dataset` and
    :attr:`callback`. The trainer must be the only process, without vLLM.

    Args:
        args: the trainer's arguments. The group size, the seed, the sampling, the steps and the steps between checkpoints are theirs.
        run: the run directory; by default ``game`` in the trainer's output directory.
        config: a configuration of the game; by default the built-in one, for ``models/tiny``.
        settings: keys of the configuration.
        arguments: more arguments of ``veriplay play``.
        binary: the program, instead of the one that :func:`veriplay.find_binary` finds.

    Raises:
        ValueError: the trainer's arguments do not fit a game.
    """

    def __init__(
        self,
        args: Any,
        *,
        run: str | os.PathLike[str] | None = None,
        config: str | os.PathLike[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        arguments: Sequence[str] = (),
        binary: str | None = None,
    ) -> None:
        self._args = args
        self._updates = _check(args)
        self.run = Path(run) if run is not None else Path(args.output_dir) / RUN
        """The game's run directory, which ``veriplay replay`` judges again."""
        self._config, self._arguments, self._binary = config, arguments, binary
        self._settings = _settings(args, self._updates)
        for key, value in (settings or {}).items():
            if self._settings.get(key, value) != value and key not in LENGTHS:
                raise ValueError(f"`{key}` is `{value}`, and the trainer's arguments make it `{self._settings[key]}`")
            self._settings[key] = value
        self.dataset = datasets.Dataset.from_dict(
            {"prompt": [""] * (args.generation_batch_size // args.num_generations)}
        )
        """Empty prompts, as many as the trainer takes for a step: the game writes the prompts when it knows them."""
        self.reward_funcs = [_reward_func(role) for role in ROLES]
        """The rewards of proposers and of solvers, which TRL logs apart."""
        self.callback = _Callback(self)
        """Starts, saves and ends the game with the training."""
        self.game: AbsoluteZero | None = None
        """The game, once the training has begun."""
        self._requests: Iterator[Request] = iter(())
        self._request: Request | None = None
        self._trainer: Any = None
        self._tokens = 0

    def __enter__(self) -> SelfPlay:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the program. An incomplete run continues from the trainer's last checkpoint."""
        if self.game is not None:
            self.game.close()

    # What the trainer calls.

    def rollout(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        """Plays a step of the game with the trainer's own generation: the ``rollout_func``."""
        if self.game is None:
            raise GameError("the game has not begun: give the trainer `callbacks=[play.callback]`")
        if not trainer.model.training:
            raise GameError("the game evaluates the model before and after training: train without `eval_dataset`")
        if not isinstance(self._request, Generate):
            raise GameError("the game asks for no completions now: it has other steps than the trainer")
        self._trainer = trainer
        answered: list[Generate] = []
        groups: list[list[list[Row]]] = []
        while isinstance(self._request, Generate):
            request, found = self._request, self._answer()
            if request.purpose == "play":
                answered.append(request)
                groups.append(found)
        update = self._request
        samples = _by_rollout(update.samples) if isinstance(update, Update) else {}
        rows = _in_groups(answered, groups, samples, self._args.num_generations, trainer)
        return self._batch(rows, samples, len(prompts), trainer)

    def _batch(self, rows: list[Row], samples: dict[int, Sample], size: int, trainer: Any) -> dict[str, Any]:
        if len(rows) > size:
            raise ValueError(
                f"a step of the game has {len(rows)} completions, and the trainer's generation batch {size}; hint: "
                "the product of `per_device_train_batch_size` and `gradient_accumulation_steps` must be as many"
            )
        rows = rows + [_empty_row(trainer)] * (size - len(rows))
        found = [samples.get(id(row.rollout)) for row in rows]
        learned = list(zip(rows, found, strict=True))
        self._tokens = sum(len(row.prompt) + len(row.completion) for row, sample in learned if sample is not None)
        # TRL's losses average over what is not masked.
        mask = [[int(sample is not None)] * len(row.completion) for row, sample in learned]
        columns = {f"{role}_reward": [_of_role(sample, role) for sample in found] for role in ROLES}
        return {
            "prompt_ids": [list(row.prompt) for row in rows],
            "completion_ids": [list(row.completion) for row in rows],
            "logprobs": None,
            "env_mask": mask,
            **columns,
        }

    # What the callback calls.

    def begin(self, step: int, steps: int) -> None:
        """Starts the game, or continues it from the checkpoint of the trainer's step."""
        if self.game is not None:
            raise GameError("this game has been played: make another `SelfPlay` for another training")
        if steps % self._updates or step % self._updates:
            what = f"step {step} of {steps} is in the middle of one"
            raise GameError(f"a step of the game is {self._updates} steps of the trainer, and {what}")
        step, steps = step // self._updates, steps // self._updates
        if step == 0:
            self.game = AbsoluteZero(
                self._config,
                out=self.run,
                steps=steps,
                settings=self._settings,
                arguments=self._arguments,
                binary=self._binary,
            )
        else:
            _rewind(self.run, step)
            arguments = ["--steps", str(steps), *self._arguments]
            self.game = AbsoluteZero(resume=self.run, arguments=arguments, binary=self._binary)
        self._requests = iter(self.game)
        self._next()
        if isinstance(self._request, Load):
            if self._request.step != step:
                raise GameError(f"`{self.run}` continues at step {self._request.step}, and the trainer at step {step}")
            self._request.done()
            self._next()

    def is_due(self, step: int) -> bool:
        """Whether the trainer has done what a step of the game asked of it."""
        return step % self._updates == 0

    def learned(self, step: int, numbers: Mapping[str, Any]) -> None:
        """The trainer has taken its step: so has the game, which saves now if the trainer is about to."""
        if isinstance(self._request, Update):
            known = {name: numbers[name] for name in ("loss", "entropy", "grad_norm") if numbers.get(name) is not None}
            self._request.done(tokens=self._tokens, **known)
            self._next()
        while self._request is not None and not isinstance(self._request, Generate):
            if isinstance(self._request, Save):
                place = {"trainer": "trl.GRPOTrainer", "checkpoint": f"checkpoint-{step}"}
                (self._request.folder / "trainer.json").write_text(json.dumps(place) + "\n")
            self._next()

    def end(self) -> None:
        """The training is over. A complete game evaluates the trained model."""
        while isinstance(self._request, Generate) and self._request.purpose == "evaluate":
            self._answer()
        self.close()

    # Generation.

    def _next(self) -> None:
        self._request = next(self._requests, None)

    def _answer(self) -> list[list[Row]]:
        """Answers a request for rollouts. Returns them by prompt."""
        request = self._request
        assert isinstance(request, Generate)
        sampling, trainer = request.sampling, self._trainer
        if request.purpose == "play":
            _check_sampling(sampling, self._args)
        encoded = [_encode(prompt, trainer) for prompt in request.prompts]
        context = getattr(trainer.model.config, "max_position_embeddings", None)
        for index, tokens in enumerate(encoded):
            if context is not None and len(tokens) + sampling.max_tokens > context:
                request.prompt_too_long(index, len(tokens), context)
                self._next()
                return []
        repeated = [tokens for tokens in encoded for _ in range(sampling.group_size)]
        completions = _sample(trainer, repeated, sampling)
        stops = [prompt.stop for prompt in request.prompts for _ in range(sampling.group_size)]
        rows = [_row(*one, trainer) for one in zip(repeated, completions, stops, strict=True)]
        size = sampling.group_size
        groups = [rows[first : first + size] for first in range(0, len(rows), size)]
        request.respond([[row.rollout for row in group if row.rollout is not None] for group in groups])
        self._next()
        return groups


class _Callback(TrainerCallback):  # type: ignore[misc]
    """Tells the game where the training stands."""

    def __init__(self, play: SelfPlay) -> None:
        self._play = play
        self._waits = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._play.begin(state.global_step, state.max_steps)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        # The trainer logs after this, and saves after that. The game saves before the trainer does.
        self._waits = self._play.is_due(state.global_step)
        if self._waits and not control.should_log:
            self._settle(state, {})

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        if self._waits:
            self._settle(state, logs or {})

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._play.end()

    def _settle(self, state: Any, numbers: Mapping[str, Any]) -> None:
        self._waits = False
        self._play.learned(state.global_step, numbers)


def _check(args: Any) -> int:
    """The optimizer steps of a step of the game. What cannot be played is an error."""
    refused = {
        "max_steps": "it must be set: the game has as many steps" if args.max_steps < 1 else "",
        "use_vllm": "the game's prompts are sampled by transformers" if args.use_vllm else "",
        "use_transformers_continuous_batching": "it has one length for all roles"
        if args.use_transformers_continuous_batching
        else "",
        "world_size": "the game is played by one process" if args.world_size != 1 else "",
        "eval_strategy": "the game evaluates the model itself" if _name(args.eval_strategy) != "no" else "",
        "save_strategy": "use `steps` or `no`" if _name(args.save_strategy) not in ("steps", "no") else "",
        "save_steps": "a share of the steps is not supported: give a number" if args.save_steps < 1 else "",
    }
    for name, reason in refused.items():
        if reason:
            raise ValueError(f"`{name}` is `{getattr(args, name)}`, and {reason}")
    batches, accumulated = args.steps_per_generation * args.num_iterations, args.gradient_accumulation_steps
    if batches % accumulated:
        raise ValueError(
            f"`steps_per_generation` times `num_iterations` is {batches}: it must be a multiple of "
            f"`gradient_accumulation_steps`, which is {accumulated}, so that a generation ends with an optimizer step"
        )
    updates: int = batches // accumulated
    if _name(args.save_strategy) == "steps" and args.save_steps % updates:
        raise ValueError(
            f"`save_steps` is {args.save_steps}, and must be a multiple of {updates}, the optimizer steps of a generation"
        )
    return updates


def _settings(args: Any, updates: int) -> dict[str, Any]:
    """What the trainer's arguments say about the game."""
    saves = args.save_steps if _name(args.save_strategy) == "steps" else args.max_steps
    chosen = {
        "seed": args.seed,
        "checkpoint_every": max(1, int(saves) // updates),
        "game.group_size": args.num_generations,
        # Groups are whole: TRL computes the advantages.
        "game.zero_advantage": "keep",
        "game.top_k": args.top_k or 0,
        "game.top_p": args.top_p,
        "game.min_p": args.min_p or 0.0,
    }
    for role in ROLES:
        chosen[f"game.{role}_temperature"] = args.temperature
        chosen[f"game.{role}_max_tokens"] = args.max_completion_length
    return chosen


def _name(strategy: Any) -> str:
    """An enumeration of transformers by its value."""
    return str(getattr(strategy, "value", strategy))


def _check_sampling(sampling: Sampling, args: Any) -> None:
    """A configuration may not sample otherwise than the trainer's loss assumes."""
    wanted = {
        "temperature": args.temperature,
        "top_k": args.top_k or 0,
        "top_p": args.top_p,
        "min_p": args.min_p or 0.0,
    }
    for name, value in wanted.items():
        if abs(getattr(sampling, name) - value) > 1e-6:
            raise ValueError(f"the game samples with `{name}` {getattr(sampling, name)}, and the trainer with {value}")
    if sampling.max_tokens > args.max_completion_length:
        longest = f"`max_completion_length` is {args.max_completion_length}"
        raise ValueError(f"the game asks for up to {sampling.max_tokens} tokens, and {longest}")


def _rewind(run: Path, step: int) -> None:
    """Makes the checkpoint of this step the last one of the run. The trainer does not know what was played after it."""
    folder = run / "checkpoints"
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    steps = sorted(int(found[1]) for name in names if (found := re.fullmatch(r"step_(\d+)", name)))
    if step not in steps:
        saved = ", ".join(map(str, steps)) or "none"
        raise GameError(f"`{run}` has no checkpoint of step {step}; hint: it has {saved}, so resume the trainer there")
    for later in (found for found in steps if found > step):
        log.warning("`%s` has a checkpoint of step %d, and the trainer resumes at step %d: removed", run, later, step)
        shutil.rmtree(folder / f"step_{later}")


def _encode(prompt: Prompt, trainer: Any) -> list[int]:
    """The tokens of a prompt: through the chat template where there is one."""
    tokenizer = trainer.processing_class
    if prompt.messages is None or getattr(tokenizer, "chat_template", None) is None:
        return list(tokenizer(prompt.text, add_special_tokens=False)["input_ids"])
    rendered = tokenizer.apply_chat_template(
        list(prompt.messages),
        add_generation_prompt=not prompt.continues,
        continue_final_message=prompt.continues,
        return_dict=True,
    )
    return list(rendered["input_ids"])


def _sample(trainer: Any, prompts: list[list[int]], sampling: Sampling) -> list[list[int]]:
    """A completion of each tokenized prompt, by the trainer's own generation, in batches of the trainer's size."""
    batch, found = trainer.args.generation_batch_size, []
    devices = [trainer.accelerator.device] if trainer.accelerator.device.type == "cuda" else []
    # The game's seed makes the samples, so that a resumed run continues with the same ones.
    with _generation(trainer, sampling), torch.random.fork_rng(devices):
        torch.manual_seed(sampling.seed % 2**63)
        for first in range(0, len(prompts), batch):
            completions, _ = trainer._generate_single_turn(prompts[first : first + batch], None, {}, 1)
            found += completions
    return found


@contextlib.contextmanager
def _generation(trainer: Any, sampling: Sampling) -> Iterator[None]:
    """Lets the trainer generate as a request says. Evaluations and roles differ in temperature and length."""
    own, config = trainer.generation_config, copy.deepcopy(trainer.generation_config)
    config.max_new_tokens = sampling.max_tokens
    config.do_sample = sampling.temperature > 0
    if config.do_sample:
        config.temperature, config.top_k, config.top_p = sampling.temperature, sampling.top_k, sampling.top_p
        config.min_p = sampling.min_p if sampling.min_p or own.min_p else None
    else:
        config.temperature = config.top_k = config.top_p = config.min_p = None
    trainer.generation_config = config
    try:
        yield
    finally:
        trainer.generation_config = own


def _row(prompt: list[int], completion: list[int], stops: Sequence[str], trainer: Any) -> Row:
    """A completion as text, up to its end token or a text that ends it."""
    tokenizer = trainer.processing_class

    def decode(tokens: Sequence[int]) -> str:
        return str(tokenizer.decode(tokens, clean_up_tokenization_spaces=False))

    ended = bool(completion) and completion[-1] in trainer.eos_token_ids
    text = decode(completion[:-1] if ended else completion)
    if any(stop in text for stop in stops):
        # The fewest tokens that have the whole of it: the others are no part of what the game judges.
        count = next(end for end in range(1, len(completion) + 1) if any(s in decode(completion[:end]) for s in stops))
        completion, ended = completion[:count], True
    rollout = Rollout(text, tokens=completion, finish="stop" if ended else "length")
    return Row(prompt, completion, rollout)


def _empty_row(trainer: Any) -> Row:
    """A row without a reward, which is masked."""
    end = [trainer.eos_token_ids[0]]
    return Row(end, end)


def _in_groups(
    requests: list[Generate], answers: list[list[list[Row]]], samples: Mapping[int, Sample], size: int, trainer: Any
) -> list[Row]:
    """The rows of a step in groups of TRL's size. Proposals of one kind answered the same question, so they are groups too."""
    rows: list[Row] = []
    proposals: dict[str | None, list[Row]] = {}
    for request, groups in zip(requests, answers, strict=True):
        for prompt, group in zip(request.prompts, groups, strict=True):
            if prompt.role == "proposer":
                proposals.setdefault(prompt.task_type, []).extend(group)
            elif len(group) == size:
                rows += group
            else:
                raise ValueError(f"`game.group_size` is {len(group)}, and `num_generations` {size}: make them equal")
    for found in proposals.values():
        # Those with a reward stand together: one that is alone in its group teaches nothing.
        found.sort(key=lambda row: id(row.rollout) not in samples)
        rows += found + [_empty_row(trainer)] * (-len(found) % size)
    return rows


def _by_rollout(samples: Sequence[Sample]) -> dict[int, Sample]:
    """The samples to learn from, by the rollout. Proposers without weight are frozen, and get no reward."""
    if any(sample.imitate for sample in samples):
        raise ValueError(
            "the game asks for imitation, which GRPO cannot do; hint: `game.learn_from` must be `advantages`"
        )
    proposers = [sample for sample in samples if sample.role == "proposer"]
    frozen = any(sample.advantage for sample in proposers) and not any(sample.weight for sample in proposers)
    return {id(sample.rollout): sample for sample in samples if not (frozen and sample.role == "proposer")}


def _of_role(sample: Sample | None, role: str) -> float | None:
    return sample.reward if sample is not None and sample.role == role else None


def _reward_func(role: str) -> Any:
    """A reward function of TRL's that repeats what the game said of one role."""

    def reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        rewards: list[float | None] = columns[f"{role}_reward"]
        if callable(count := columns.get("log_metric")):
            count(f"{role}/rewarded", float(sum(reward is not None for reward in rewards)))
        return rewards

    reward.__name__ = reward.__qualname__ = role
    return reward
