"""Frameworks that need torch: verl, TRL and verifiers, unmodified. `VERIPLAY_TORCH=1 python/run_tests.sh` runs them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted import Handler, serving

import veriplay.trl
import veriplay.verl
from veriplay.games import AbsoluteZero

TRUTH = json.dumps({"inputs": ["1 2\n", "4 5\n"], "outputs": ["3\n", "9\n"]})
RIGHT = "```python\nprint(sum(map(int, input().split())))\n```"
WRONG = "```python\nprint(3)\n```"


class Letters:
    """A tokenizer: a token is a code point."""

    def decode(self, tokens: Any, skip_special_tokens: bool = True) -> str:
        return "".join(chr(token) for token in tokens.tolist() if token)


def verl_sample(text: str, truth: str) -> Any:
    torch, verl = pytest.importorskip("torch"), pytest.importorskip("verl")
    import numpy as np

    tokens = torch.tensor([[ord(letter) for letter in text]])
    tensors = {"responses": tokens, "attention_mask": torch.ones_like(tokens), "prompts": tokens[:, :1]}
    others = {
        "data_source": np.array(["code"], dtype=object),
        "reward_model": np.array([{"ground_truth": truth}], dtype=object),
        "extra_info": np.array([{}], dtype=object),
    }
    return verl.DataProto.from_dict(tensors=tensors, non_tensors=others)


def verl_rewards(config: dict[str, Any], texts: list[str]) -> list[dict[str, Any]]:
    """What verl's own reward manager makes of these texts, all awaited at once."""
    omegaconf = pytest.importorskip("omegaconf")
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
    from verl.trainer.ppo.reward import get_custom_reward_fn

    async def judge() -> list[dict[str, Any]]:
        settings = omegaconf.OmegaConf.create({"reward": {"custom_reward_function": config}})
        manager = NaiveRewardManager(settings, Letters(), get_custom_reward_fn(settings))
        return await asyncio.gather(*(manager.run_single(verl_sample(text, TRUTH)) for text in texts))

    return asyncio.run(judge())


def test_verl_loads_the_function_from_its_file_and_awaits_many(at_service: str) -> None:
    config = {"path": veriplay.verl.__file__, "name": "compute_score", "reward_kwargs": {"patience": 60}}
    texts = [RIGHT if at % 2 else f"{WRONG}{at}" for at in range(32)]
    found = verl_rewards(config, texts)
    assert [sample["reward_score"] for sample in found] == [float(at % 2) for at in range(32)]
    assert {frozenset(sample["reward_extra_info"]) for sample in found} == {
        frozenset({"score", "acc", "veriplay_passed", "veriplay_total", "veriplay_unjudged"})
    }


def test_verl_loads_the_function_from_its_package(at_service: str) -> None:
    found = verl_rewards({"path": "pkg://veriplay.verl", "name": "compute_score"}, [RIGHT])
    assert found[0]["reward_score"] == 1.0


def test_verls_own_sandbox_scoring_gets_right_answers_from_the_url(at_service: str) -> None:
    fusion = pytest.importorskip("verl.utils.reward_score.sandbox_fusion")
    import threading

    slots = threading.Semaphore(64)
    right, wrong = (
        fusion.compute_score(f"{at_service}/run_code", slots, 1024, text, TRUTH, continuous=False)
        for text in (RIGHT, WRONG)
    )
    # The wrong one passes the first of the two cases.
    assert (float(right[0]), float(wrong[0])) == (1.0, 0.5)


def test_trl_trains_on_the_rewards(at_service: str, tmp_path: Path) -> None:
    trl, torch = pytest.importorskip("trl"), pytest.importorskip("torch")
    import datasets
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    letters = {letter: at for at, letter in enumerate(["<pad>", "<eos>", *map(chr, range(32, 127)), "\n"])}
    raw = Tokenizer(models.WordLevel(letters, unk_token="<pad>"))
    raw.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>")
    torch.manual_seed(0)
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(letters), num_key_value_heads=2, **size))
    seen: list[list[float | None]] = []

    def watched(**columns: Any) -> list[float | None]:
        # A random model writes no program, so the half of each group gets one.
        columns["completions"] = [RIGHT if at % 2 else text for at, text in enumerate(columns["completions"])]
        seen.append(veriplay.trl.executed(**columns))
        return seen[-1]

    rows = [{"prompt": "add\n", "ground_truth": TRUTH}] * 4
    config = trl.GRPOConfig(
        output_dir=str(tmp_path),
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=8,
        max_steps=2,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
    )
    trainer = trl.GRPOTrainer(
        model=model,
        reward_funcs=watched,
        args=config,
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    trainer.train()
    assert seen and all(rewards == [0.0, 1.0, 0.0, 1.0] for rewards in seen)
    logs = [row for row in trainer.state.log_history if "reward" in row]
    assert logs and all(row["reward"] == pytest.approx(0.5) for row in logs)


def test_trl_leaves_out_what_was_not_measured() -> None:
    lost = veriplay.trl.reward(url="http://127.0.0.1:9", patience=0.0)
    assert lost(completions=[RIGHT, WRONG], ground_truth=[TRUTH] * 2) == [None, None]


def test_verifiers_plugs_the_reward_in_by_its_name(at_service: str) -> None:
    vf = pytest.importorskip("verifiers.v1")
    from verifiers.v1.configs.task import TaskConfig
    from verifiers.v1.utils.decorators import invoke_all

    class Data(vf.TaskData):
        ground_truth: str

    class Code(vf.Task[Data]):
        pass

    config = TaskConfig.model_validate({"rewards": {"executed": {"fn": "veriplay.verifiers:executed", "weight": 1.0}}})
    task = Code(Data(idx=0, prompt="add", ground_truth=TRUTH), config)
    hooks = task.hooks("reward")
    assert [hook.__name__ for hook in hooks] == ["executed"]

    class Trace:
        def __init__(self, reply: str) -> None:
            self.last_reply = reply

    for reply, reward in [(RIGHT, 1.0), (WRONG, 0.0)]:
        assert asyncio.run(invoke_all(hooks, {"task": task, "trace": Trace(reply)})) == [reward]


ROOT = Path(__file__).resolve().parents[2]
#: A taskset for `vf-eval`, without a reward of its own.
SUMS = f"""
import verifiers.v1 as vf

TRUTH = {TRUTH!r}

class Data(vf.TaskData):
    ground_truth: str

class Sum(vf.Task[Data]):
    pass

class Sums(vf.Taskset[Sum, vf.TasksetConfig]):
    def load(self):
        for name in ("right", "wrong"):
            yield Sum(Data(idx=0, name=name, prompt=name, ground_truth=TRUTH), self.config.task)

__all__ = ["Sums"]
"""
#: The lines of docs/trainers.md, and what they are added to.
EVAL = """
model = "stand-in"
push = false
output_dir = "{out}"
[env.taskset]
id = "sums-v1"
[env.taskset.task.rewards]
executed = {{fn = "veriplay.verifiers:executed", weight = 1.0}}
[env.agent]
harness = {{id = "null"}}
runtime = {{type = "subprocess"}}
[client]
base_url = "{url}/v1"
api_key_var = "STAND_IN_KEY"
"""


def complete_chat(handler: Handler) -> None:
    """What a model says that is told whether to be right, as events of a stream."""
    text = RIGHT if handler.body["messages"][-1]["content"] == "right" else WRONG
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": handler.body["model"]}
    choices = [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    rows = [json.dumps({**chunk, **more}) for more in ({"choices": choices}, {"choices": [], "usage": usage})]
    handler.reply(200, "".join(f"data: {row}\n\n" for row in [*rows, "[DONE]"]).encode(), "text/event-stream")


def rollouts(url: str, folder: Path, patience: float) -> dict[str, dict[str, Any]]:
    """The traces of verifiers' own evaluation, whose model is a stand-in, by the names of their tasks."""
    (folder / "sums_v1.py").write_text(SUMS)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {"PATH": path, "PYTHONPATH": f"{ROOT / 'python'}{os.pathsep}{folder}", "STAND_IN_KEY": "none"}
    settings |= {"VERIPLAY_URL": url, "VERIPLAY_PATIENCE": str(patience)}
    with serving() as model:
        model.otherwise = complete_chat
        (folder / "eval.toml").write_text(EVAL.format(out=folder / "out", url=model.url))
        command = ["vf-eval", "@", str(folder / "eval.toml")]
        done = subprocess.run(command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (written,) = (folder / "out").glob("*/traces.jsonl")
    traces = [json.loads(line)["traces"][0] for line in written.read_text().splitlines()]
    return {trace["task"]["data"]["name"]: trace for trace in traces}


def test_verifiers_rolls_out_and_rewards(at_service: str, tmp_path: Path) -> None:
    pytest.importorskip("verifiers.v1")
    found = rollouts(at_service, tmp_path, patience=120.0)
    scores = {name: trace["rewards"]["executed"]["score"] for name, trace in found.items()}
    assert scores == {"right": 1.0, "wrong": 0.0}
    assert not any(trace["errors"] for trace in found.values())


def test_verifiers_has_an_error_and_no_reward_where_nothing_was_measured(tmp_path: Path) -> None:
    pytest.importorskip("verifiers.v1")
    for trace in rollouts("http://127.0.0.1:9", tmp_path, patience=0.0).values():
        assert trace["rewards"] == {"executed": None}
        (error,) = trace["errors"]
        assert error["type"] == "TaskError" and "Unmeasured" in error["message"]


def test_a_policy_in_torch_plays_absolute_zero(binary: str, tmp_path: Path) -> None:
    """The example: its model is ours, so it evaluates as ours does, and a resumed run ends with the same bytes."""
    torch = pytest.importorskip("torch")
    spec = importlib.util.spec_from_file_location("example", ROOT / "python" / "examples" / "absolute_zero_torch.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    torch.set_num_threads(1)
    settings = {"checkpoint_every": 1, "game.proposals_per_type": 8, "game.tasks_per_type": 4}
    settings |= {"tasks.seeds_per_type": 32, "eval.tasks": 12, "eval.ladder_tasks": 0}
    with AbsoluteZero(out=tmp_path / "whole", steps=2, settings=settings, binary=binary) as game:
        summary = game.play(example.TorchTrainer(str(ROOT / "models" / "tiny")))
    assert summary is not None and summary["valid_proposal_rate"] > 0.3 and summary["solve_rate"] > 0.1
    events = [json.loads(line) for line in (tmp_path / "whole" / "events.jsonl").read_text().splitlines()]
    assert all(event["actor/grad_norm"] > 0 and event["perf/total_num_tokens"] > 0 for event in events)

    own = [f"--set={key}={value}" for key, value in {**settings, "game.sft_samples": 0}.items()]
    command = [binary, "play", "--json", "--steps", "1", "--out", str(tmp_path / "own"), *own]
    ours = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    greedy = [[row["greedy"] for row in one["eval"]["before"]["rows"]] for one in (summary, ours)]
    assert greedy[0] == greedy[1]

    game = AbsoluteZero(out=tmp_path / "broken", steps=2, settings=settings, binary=binary)
    trainer = example.TorchTrainer(str(ROOT / "models" / "tiny"))
    trainer.on_step = lambda metrics: game.stop()
    assert game.play(trainer) is None
    with AbsoluteZero(resume=tmp_path / "broken", binary=binary) as game:
        game.play(example.TorchTrainer(str(ROOT / "models" / "tiny")))
    for name in ("events.jsonl", "rollouts.jsonl.zst", "after.json", "checkpoints/step_2/trainer/model.safetensors"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "broken" / name).read_bytes(), name


@pytest.mark.parametrize("adapters", [False, True])
def test_transformers_loads_a_checkpoint_folder_as_it_is(binary: str, tmp_path: Path, adapters: bool) -> None:
    """Or the one to which adapters and their base are merged. Its log-probabilities are those of `veriplay generate`."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    settings = ["checkpoint_every=1", "game.proposals_per_type=8", "game.tasks_per_type=4", "tasks.seeds_per_type=32"]
    settings += ["eval.tasks=12", "eval.ladder_tasks=0", "learn.warmup_steps=0"]
    if adapters:
        settings += ["learn.lora.rank=2", "learn.lora.alpha=4.0", 'learn.lora.target_modules=["q_proj", "down_proj"]']
    run, folder = tmp_path / "run", tmp_path / "run" / "checkpoints" / "step_2"
    own = [f"--set={setting}" for setting in settings]
    subprocess.run([binary, "play", "--steps", "2", "--out", str(run), *own], check=True, capture_output=True)
    assert (folder / "optimizer" / "optimizer.safetensors").is_file()
    if adapters:
        assert sorted(path.name for path in folder.glob("*.safetensors")) == ["adapter_model.safetensors"]
        named, folder = folder, tmp_path / "merged"
        subprocess.run([binary, "model", "merge", str(named), str(folder)], check=True, capture_output=True)
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    assert set(index["weight_map"].values()) == {path.name for path in folder.glob("*.safetensors")}

    prompt = [1, 2, 3]
    command = [binary, "generate", "--json", "--temperature", "0", "--max-tokens", "16", "--ignore-eos", "--model"]
    command += [str(folder), "--prompt-ids", ",".join(map(str, prompt))]
    sample = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        logits = model(torch.tensor([prompt + sample["tokens"]])).logits[0, len(prompt) - 1 : -1]
    logprobs = logits.float().log_softmax(-1).gather(-1, torch.tensor(sample["tokens"])[:, None])[:, 0]
    assert sample["logprobs"] == pytest.approx(logprobs.tolist(), abs=1e-4)
    assert transformers.AutoTokenizer.from_pretrained(folder).eos_token is not None
    assert transformers.GenerationConfig.from_pretrained(folder).eos_token_id is not None


class Killed(Exception):
    """Ends a training in the middle."""


def play_with_trl(binary: str, out: Path, *, killed_at: int | None = None, resume: str | None = None) -> Any:
    """Trains models/tiny by TRL's own trainer. Returns the trainer and what it was handed in each step."""
    trl, transformers = pytest.importorskip("trl"), pytest.importorskip("transformers")
    from veriplay.trl_games import SelfPlay

    class Kill(transformers.TrainerCallback):
        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step == killed_at:
                raise Killed

    # In a step: 3 kinds, each with 2 groups for 6 proposals, and 4 groups of attempts.
    args = trl.GRPOConfig(
        str(out),
        max_steps=4,
        save_steps=2,
        num_generations=4,
        per_device_train_batch_size=24,
        gradient_accumulation_steps=3,
        max_completion_length=64,
        learning_rate=1e-3,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
    )
    settings = {"game.proposals_per_type": 6, "game.tasks_per_type": 4, "game.fresh_fraction": 0.5}
    settings |= {"tasks.seeds_per_type": 32, "eval.tasks": 8, "eval.ladder_tasks": 0}
    batches: list[dict[str, Any]] = []
    with SelfPlay(args, settings=settings, binary=binary) as play:

        def watched(prompts: list[Any], trainer: Any) -> dict[str, Any]:
            batches.append(play.rollout(prompts, trainer))
            return dict(batches[-1])

        trainer = trl.GRPOTrainer(
            model=str(ROOT / "models" / "tiny"),
            args=args,
            rollout_func=watched,
            reward_funcs=play.reward_funcs,
            train_dataset=play.dataset,
            callbacks=[play.callback, Kill()],
        )
        trainer.train(resume_from_checkpoint=resume)
        assert play.game is not None and play.game.summary is not None
    return trainer, batches


def proposals_in_pool(out: Path, step: int) -> int:
    state = json.loads((out / "game" / "checkpoints" / f"step_{step}" / "play.json").read_text())
    return sum(not entry["seed"] for entry in state["game"]["pool"])


def test_trls_own_trainer_plays_absolute_zero(binary: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    torch.set_num_threads(1)
    whole = tmp_path / "whole"
    trainer, batches = play_with_trl(binary, whole)

    losses = [row for row in trainer.state.log_history if "loss" in row]
    assert len(losses) == len(batches) == 4
    assert all(math.isfinite(row["loss"]) and row["grad_norm"] > 0 for row in losses)
    start, end = (
        safetensors.load_file(folder / "model.safetensors")
        for folder in (ROOT / "models" / "tiny", whole / "checkpoint-4")
    )
    assert all(not torch.equal(start[name], end[name]) for name in end), "every weight has learned"
    assert 0 < proposals_in_pool(whole, 2) < proposals_in_pool(whole, 4)

    events = [json.loads(line) for line in (whole / "game" / "events.jsonl").read_text().splitlines()]
    for event, batch, row in zip(events, batches, losses, strict=True):
        assert event["actor/loss"] == pytest.approx(row["loss"]) and event["perf/total_num_tokens"] > 0
        rewards = list(zip(batch["proposer_reward"], batch["solver_reward"], strict=True))
        # 72 completions, of which 6 fill the second group of each kind's proposals.
        unrated = sum(role["unrated"] for role in event["play"]["roles"] if role["role"] == "proposer")
        assert len(rewards) == 72 and sum(pair == (None, None) for pair in rewards) == 6 + unrated
        assert sum(solver is not None for _, solver in rewards) == 48
        for pair, mask in zip(rewards, batch["env_mask"], strict=True):
            assert set(mask) == {int(pair != (None, None))}, "what has no reward is masked"
    assert any(reward is not None for batch in batches for reward in batch["proposer_reward"])

    replay = subprocess.run([binary, "replay", whole / "game", "--json"], check=True, capture_output=True)
    assert json.loads(replay.stdout)["changed"] == 0 < json.loads(replay.stdout)["verdicts"]

    # Killed in its last step, it resumes from the checkpoints of step 2, and ends with the same bytes.
    broken = tmp_path / "broken"
    with pytest.raises(Killed):
        play_with_trl(binary, broken, killed_at=3)
    play_with_trl(binary, broken, resume=str(broken / "checkpoint-2"))
    # A complete one goes back to the checkpoints of step 2: those after them go.
    play_with_trl(binary, whole, resume=str(whole / "checkpoint-2"))
    for name in ("game/events.jsonl", "game/rollouts.jsonl.zst", "game/after.json", "checkpoint-4/model.safetensors"):
        assert (whole / name).read_bytes() == (broken / name).read_bytes(), name
    again = safetensors.load_file(whole / "checkpoint-4" / "model.safetensors")
    assert all(torch.equal(end[name], again[name]) for name in end)


def test_a_lost_attempt_is_masked_for_trl(tmp_path: Path) -> None:
    """The game leaves out of an update what its host failed on; TRL gets no reward for it, in a whole group."""
    trl = pytest.importorskip("trl")
    from veriplay.games import Generate, Prompt, Rollout, Sample, Sampling
    from veriplay.trl_games import Row, SelfPlay, _by_rollout, _in_groups

    class Trainer:
        eos_token_ids = (1,)

    args = trl.GRPOConfig(
        str(tmp_path), max_steps=1, num_generations=2, per_device_train_batch_size=6, use_cpu=True, bf16=False
    )
    play = SelfPlay(args)
    prompts = [Prompt(role, "deduction", "", None, ()) for role in ("proposer", "solver")]
    sampling = [Sampling(1.0, 0, 1.0, 0.0, 8, size, 0) for size in (3, 2)]
    requests = [Generate(0, "play", (prompt,), one, None, 0) for prompt, one in zip(prompts, sampling, strict=True)]  # type: ignore[arg-type]
    rows = [[Row([5], [7, 1], Rollout(str(at))) for at in range(one.group_size)] for one in sampling]
    scored = [(rows[0][1], 0.25), (rows[0][2], 0.75), (rows[1][1], 1.0)]
    samples = _by_rollout(
        [
            Sample(prompts[0], row.rollout, 0.5, 1.0, False, role="proposer" if reward < 1 else "solver", reward=reward)
            for row, reward in scored
        ]
    )
    ordered = _in_groups(requests, [[rows[0]], [rows[1]]], samples, 2, Trainer())
    batch = play._batch(ordered, samples, 6, Trainer())
    assert batch["solver_reward"] == [None, 1.0, None, None, None, None], "the lost attempt is in its group"
    assert batch["proposer_reward"] == [None, None, 0.25, 0.75, None, None]
    assert batch["env_mask"] == [[0, 0], [1, 1], [1, 1], [1, 1], [0, 0], [0]]
    with pytest.raises(ValueError, match="has 6 completions, and the trainer's generation batch 4"):
        play._batch(ordered, samples, 4, Trainer())


def test_a_completion_ends_where_its_format_ends_it() -> None:
    pytest.importorskip("trl")
    from veriplay.trl_games import _row

    class Tokenizer:
        def decode(self, tokens: list[int], **_: Any) -> str:
            return "".join(map(chr, tokens))

    class Trainer:
        processing_class, eos_token_ids = Tokenizer(), (0,)

    found = [_row([1], [*map(ord, text)], ["</a>"], Trainer()) for text in ("4\0", "4</a>5\0", "4")]
    shown = [("".join(map(chr, row.completion)), row.rollout.text, row.rollout.finish) for row in found]
    # The game cuts the text itself.
    assert shown == [("4\0", "4", "stop"), ("4</a>", "4</a>5", "stop"), ("4", "4", "length")]


def test_trl_arguments_that_fit_no_game_are_refused(tmp_path: Path) -> None:
    trl = pytest.importorskip("trl")
    from veriplay.trl_games import SelfPlay

    fitting = {"max_steps": 4, "num_generations": 2, "per_device_train_batch_size": 2, "use_cpu": True, "bf16": False}
    for wrong, message in [
        ({"max_steps": -1}, "`max_steps` is `-1`"),
        ({"save_strategy": "epoch"}, "use `steps` or `no`"),
        ({"num_iterations": 2, "save_steps": 3}, "`save_steps` is 3, and must be a multiple of 2"),
        (
            {"gradient_accumulation_steps": 2, "steps_per_generation": 1},
            "must be a multiple of `gradient_accumulation_steps`",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            SelfPlay(trl.GRPOConfig(str(tmp_path), **{**fitting, **wrong}))
    play = trl.GRPOConfig(str(tmp_path), **fitting)
    with pytest.raises(ValueError, match=r"`game\.zero_advantage` is `drop`, and the trainer"):
        SelfPlay(play, settings={"game.zero_advantage": "drop"})
    SelfPlay(play, settings={"game.zero_advantage": "keep", "game.solver_max_tokens": 8})
