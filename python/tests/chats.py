"""What trainers decode: the chat templates of model families, with tokenizers of the kinds that they have, made here of nothing."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

TRUTH = json.dumps({"inputs": ["1 2\n", "4 5\n"], "outputs": ["3\n", "9\n"]})
RIGHT, WRONG = "print(sum(map(int, input().split())))", "print(3)"


@dataclass(frozen=True)
class Family:
    """Models that have a chat template and a tokenizer in common."""

    template: str
    """Of one turn, with `{}` for the user's words."""
    end: str
    """The token that ends the model's turn."""
    pieces: bool = False
    """Whether its tokenizer is one of SentencePiece, which puts a space behind special tokens, and not one of bytes, which changes nothing."""

    def prompt(self, example: str, opened: str = "") -> str:
        """A chat about the task of `TRUTH`, up to what the model writes. Its question has an example of an answer."""
        question = f"Add two numbers a != b — “1 2” is 3 .\nAnswer in <answer> </answer>, like this:\n```python\n{example}\n```"
        return self.template.replace("{}", question) + opened

    def asked(self, answer_begins: str = "") -> list[tuple[str, str, float]]:
        """Prompts, responses with their end tokens, and the rewards, of all cases. What a model writes first stands before an answer."""
        return [
            (self.prompt(example, opened), (answer if opened else answer_begins + answer) + self.end, reward)
            for opened, example, answer, reward in CASES
        ]

    def special_tokens(self) -> list[str]:
        """Those of the template, and that which ends a turn."""
        return sorted({*re.findall(r"<[|｜a-z_]\S*?>", self.template), self.end})

    def tokenizer(self) -> Any:
        """A tokenizer of the library `tokenizers`."""
        from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

        if self.pieces:
            vocabulary = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *map(chr, range(33, 127))]
            numbered = {piece: at for at, piece in enumerate(vocabulary)}
            made = Tokenizer(models.BPE(numbered, [], unk_token="<unk>", fuse_unk=True, byte_fallback=True))
            made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
            spaces = decoders.Replace("▁", " ")
            parts = [spaces, decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
            made.decoder = decoders.Sequence(parts)
        else:
            letters = sorted(pre_tokenizers.ByteLevel.alphabet())
            made = Tokenizer(models.BPE({letter: at for at, letter in enumerate(letters)}, []))
            made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            made.decoder = decoders.ByteLevel()
        made.add_special_tokens([AddedToken(token, normalized=False) for token in self.special_tokens()])
        return made


FAMILIES = {
    "ChatML": Family("<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>"),
    "Llama 3": Family(
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n{}<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<|eot_id|>",
    ),
    "DeepSeek": Family("<｜begin▁of▁sentence｜><｜User｜>{}<｜Assistant｜>", "<｜end▁of▁sentence｜>"),
    "Gemma": Family("<bos><start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n", "<end_of_turn>"),
    "Llama 2": Family("<s>[INST] {} [/INST]", "</s>", pieces=True),
    "no template": Family("Question: {}\nAnswer:\n", "<|endoftext|>"),
}

#: How a prompt ends, and how a response that goes on from there wraps its program, `{}`.
FORMS = [
    ("", "Sure.\n\n```python\n{}\n```"),
    ("", "```python\n{}\n```\n\nFor\n```\n1 2\n```\nit prints\n```\n3\n```"),
    ("", "{}"),
    ("", "```py3\n{}"),
    ("", "<think>\nIs it this?\n```python\nprint(0)\n```\n</think>\n\n<answer>\n{}\n</answer>"),
    ("<think>\n", "Is it this?\n```python\nprint(0)\n```\n</think>\n\n```python\n{}\n```"),
    ("```python\n", "{}\n```\n\nThis reads a line. An empty one is an error:\n```\nValueError\n```"),
]
#: How a prompt ends, and a response that goes on from there without an answer.
NO_ANSWERS = [("", "I do not know."), ("", ""), ("<think>\n", "I do not know.\n</think>\nNo.")]
#: The same: the thought does not end.
DRAFTS = [
    ("", f"<think>\nIs it this?\n```python\n{RIGHT}\n```\n"),
    ("<think>\n", f"Is it this?\n```python\n{RIGHT}\n```\n"),
]
#: How a prompt ends, its example, the response, and the reward of that.
CASES = [
    *((opened, "print(0)", form.replace("{}", RIGHT), 1.0) for opened, form in FORMS),
    *((opened, RIGHT, form.replace("{}", WRONG), 0.0) for opened, form in FORMS),
    *((opened, RIGHT, text, 0.0) for opened, text in NO_ANSWERS),
]


class OneAnswer:
    """What OpenRLHF asks of vLLM: the tokens of this answer."""

    def __init__(self, tokens: list[int]) -> None:
        self.tokens = tokens

    async def generate(self, prompt: list[int], sampling_params: Any, multi_modal_data: Any = None) -> Any:
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=self.tokens, finish_reason="stop", logprobs=None)])


async def reward_of(executor: Any, tokenizer: Any, prompt: str, answer: str, cut: int = 0) -> float | None:
    """The reward that OpenRLHF's executor ends with. A prompt that is too long by some tokens loses its beginning."""
    asked, whole = (tokenizer(text=text, add_special_tokens=False)["input_ids"] for text in (prompt, prompt + answer))
    tokens = whole[len(asked) :]
    sampling = SimpleNamespace(max_tokens=len(tokens), logprobs=None)
    most = len(whole) - cut
    record = await executor.execute(prompt, TRUTH, sampling, most, tokenizer, OneAnswer(tokens))
    return record["reward"]  # type: ignore[no-any-return]


def wrongly_rewarded(executor: Any, tokenizer: Any, asked: list[tuple[str, str, float]]) -> list[Any]:
    """Of prompts, responses and their rewards those with which OpenRLHF's executor does not end."""

    async def rewards() -> list[float | None]:
        return await asyncio.gather(*(reward_of(executor, tokenizer, prompt, answer) for prompt, answer, _ in asked))

    found = zip(asked, asyncio.run(rewards()), strict=True)
    return [(case, reward) for case, reward in found if reward != case[-1]]
