"""Absolute Zero with a policy in PyTorch: transformers generates and torch takes the optimizer steps, on a CPU or a GPU.

    python absolute_zero_torch.py --model models/tiny --out runs/torch --steps 60
    python absolute_zero_torch.py --resume runs/torch

The loss is that of GRPO at one update a batch, where PPO's ratio is 1: −advantage · log p, over all tokens of both roles. Rewards, advantages
and the normalizer come with the samples. It needs torch and transformers.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from veriplay.games import AbsoluteZero, Prompt, PromptTooLong, Rollout, Sample, Sampling, Update


class TorchTrainer:
    """A causal language model with an optimizer."""

    def __init__(self, name: str, *, batch: int = 256, micro_batch: int = 64) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32).to(self.device)
        self.end = self.model.config.eos_token_id
        self.end = self.end[0] if isinstance(self.end, list) else self.end
        self.context = self.model.config.max_position_embeddings
        self.optimizer = torch.optim.AdamW(self.model.parameters(), betas=(0.9, 0.98), weight_decay=0.0)
        self.batch, self.micro_batch = batch, micro_batch

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[list[Rollout]]:
        """Samples a group for each prompt."""
        torch.manual_seed(sampling.seed % 2**63)
        encoded = [self.encode(prompt) for prompt in prompts]
        for index, tokens in enumerate(encoded):
            if len(tokens) + sampling.max_tokens > self.context:
                raise PromptTooLong(index, len(tokens), self.context)
        together = max(1, self.batch // sampling.group_size)
        groups: list[list[Rollout]] = []
        for first in range(0, len(encoded), together):
            groups += self.sample(encoded[first : first + together], sampling)
        return groups

    def encode(self, prompt: Prompt) -> list[int]:
        """The tokens of a prompt: through the chat template where there is one."""
        if prompt.messages is None or self.tokenizer.chat_template is None:
            return list(self.tokenizer(prompt.text, add_special_tokens=False)["input_ids"])
        rendered = self.tokenizer.apply_chat_template(
            list(prompt.messages),
            add_generation_prompt=not prompt.continues,
            continue_final_message=prompt.continues,
            return_dict=True,
        )
        return list(rendered["input_ids"])

    @torch.no_grad()
    def sample(self, prompts: list[list[int]], sampling: Sampling) -> list[list[Rollout]]:
        """Samples a group for each of a batch of tokenized prompts."""
        longest = max(map(len, prompts))
        padded = [[self.end] * (longest - len(tokens)) + tokens for tokens in prompts]
        mask = [[0] * (longest - len(tokens)) + [1] * len(tokens) for tokens in prompts]
        drawn: dict[str, Any] = {"do_sample": False}
        if sampling.temperature > 0:
            drawn = {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p}
            drawn |= {"top_k": sampling.top_k, "min_p": sampling.min_p or None}
        self.model.eval()
        output = self.model.generate(
            input_ids=torch.tensor(padded, device=self.device),
            attention_mask=torch.tensor(mask, device=self.device),
            max_new_tokens=sampling.max_tokens,
            num_return_sequences=sampling.group_size,
            eos_token_id=self.end,
            pad_token_id=self.end,
            **drawn,
        )
        rows = output[:, longest:].tolist()
        group = sampling.group_size
        # The prompt's tokens stay with the rollout, for the update.
        return [
            [self.rollout(prompt, row) for row in rows[index * group : (index + 1) * group]]
            for index, prompt in enumerate(prompts)
        ]

    def rollout(self, prompt: list[int], row: list[int]) -> Rollout:
        """What was generated, up to its end token."""
        ended = self.end in row
        tokens = row[: row.index(self.end) + 1] if ended else row
        text = self.tokenizer.decode(tokens[:-1] if ended else tokens, clean_up_tokenization_spaces=False)
        return Rollout(text, tokens=tokens, finish="stop" if ended else "length", info=prompt)

    def update(self, update: Update) -> Mapping[str, float]:
        """One optimizer step on the samples."""
        assert update.normalizer is not None, "rollouts have tokens"
        for group in self.optimizer.param_groups:
            group["lr"] = update.learning_rate
        self.model.train()
        self.optimizer.zero_grad()
        loss, tokens = 0.0, 0
        ordered = sorted(update.samples, key=lambda sample: len(sample.rollout.info) + len(sample.rollout.tokens or ()))
        for first in range(0, len(ordered), self.micro_batch):
            part, read = self.loss(ordered[first : first + self.micro_batch])
            (part / update.normalizer).backward()
            loss, tokens = loss + part.item() / update.normalizer, tokens + read
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return {"loss": loss, "grad_norm": norm.item(), "tokens": tokens}

    def loss(self, samples: list[Sample]) -> tuple[torch.Tensor, int]:
        """The sum over samples of weight · scale · −log p, and the number of tokens read."""
        texts = [sample.rollout.info + list(sample.rollout.tokens or ()) for sample in samples]
        longest = max(map(len, texts))
        rows = torch.tensor([text + [self.end] * (longest - len(text)) for text in texts], device=self.device)
        mask = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in texts], device=self.device)
        weights = torch.zeros(rows.shape, device=self.device)
        for row, (sample, text) in enumerate(zip(samples, texts, strict=True)):
            weights[row, len(sample.rollout.info) : len(text)] = sample.weight * (sample.scale or 1.0)
        logits = self.model(input_ids=rows, attention_mask=mask).logits[:, :-1]
        logprobs = torch.log_softmax(logits, dim=-1).gather(-1, rows[:, 1:, None]).squeeze(-1)
        return -(weights[:, 1:] * logprobs).sum(), int(mask.sum())

    def save(self, folder: Path) -> None:
        """Saves weights and optimizer, in the layout that `veriplay eval --model` reads."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        torch.save(self.optimizer.state_dict(), folder / "optimizer.pt")

    def load(self, folder: Path) -> None:
        """Loads what `save` saved."""
        saved = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        self.model.load_state_dict(saved.state_dict())
        self.optimizer.load_state_dict(torch.load(folder / "optimizer.pt"))

    def on_step(self, metrics: Mapping[str, Any]) -> None:
        """Prints the solve rates of a step."""
        roles = metrics["play"]["roles"]
        solved = {role["task_type"]: role["solve_rate"] for role in roles if role["role"] == "solver"}
        print(f"step {metrics['step']}: loss {metrics['actor/loss']}, solved {solved}", flush=True)


def main() -> None:
    """Plays a run, or resumes one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="models/tiny", help="a checkpoint that transformers loads")
    parser.add_argument("--config", help="a configuration [default: the built-in quickstart, for models/tiny]")
    parser.add_argument("--out", help="the run directory to create")
    parser.add_argument("--resume", help="the run directory to continue")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a key of the configuration")
    args = parser.parse_args()
    settings = [argument for setting in args.set for argument in ("--set", setting)]
    trainer = TorchTrainer(args.model)
    with AbsoluteZero(args.config, out=args.out, resume=args.resume, steps=args.steps, arguments=settings) as game:
        summary = game.play(trainer)
    if summary is not None:
        print(json.dumps({name: table["mean"] for name, table in summary["eval"].items()}))


if __name__ == "__main__":
    main()
