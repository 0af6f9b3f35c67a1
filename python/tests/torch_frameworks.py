"""Frameworks that need torch: verl, TRL and verifiers, unmodified. `VERIPLAY_TORCH=1 python/run_tests.sh` runs them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

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


def test_a_policy_in_torch_plays_absolute_zero(binary: str, tmp_path: Path) -> None:
    """The example: its model is ours, so it evaluates as ours does, and a resumed run ends with the same bytes."""
    torch = pytest.importorskip("torch")
    spec = importlib.util.spec_from_file_location("example", ROOT / "python" / "examples" / "absolute_zero_torch.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    torch.set_num_threads(1)
    settings = {"checkpoint_every": 1, "game.proposals_per_type": 8, "game.tasks_per_type": 4}
    settings |= {"tasks.seeds_per_type": 32, "eval.tasks_per_type": 12}
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
