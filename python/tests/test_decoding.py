"""OpenRLHF's own decoding, which keeps special tokens, before the reward: by the service's URL and by the function."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from chats import DRAFTS, FAMILIES, RIGHT, WRONG, Family, reward_of, wrongly_rewarded

import veriplay.openrlhf

pytest.importorskip("tokenizers")


class HubTokenizer:
    """The two calls that OpenRLHF makes of a tokenizer of transformers, by the library that does its work there."""

    def __init__(self, family: Family) -> None:
        self.made = family.tokenizer()

    def __call__(self, text: str, return_tensors: str | None = None, **_: object) -> dict[str, Any]:
        tokens = self.made.encode(text, add_special_tokens=False).ids
        return {"input_ids": [SimpleNamespace(tolist=lambda: tokens)] if return_tensors else tokens}

    def decode(self, tokens: list[int], skip_special_tokens: bool) -> str:
        return str(self.made.decode(tokens, skip_special_tokens=skip_special_tokens))


@pytest.fixture(params=["url", "file"])
def door(request: pytest.FixtureRequest) -> str:
    """How OpenRLHF asks: the service by its URL, or the package's function."""
    return str(request.param)


@pytest.fixture
def executor(door: str, at_service: str, openrlhf_agent: Any) -> Any:
    """OpenRLHF's executor."""
    where = f"{at_service}/get_reward" if door == "url" else veriplay.openrlhf.__file__
    return openrlhf_agent.SingleTurnAgentExecutor(where)


every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


@every_family
def test_the_real_openrlhf_rewards_what_a_model_wrote(executor: Any, family: Family) -> None:
    assert wrongly_rewarded(executor, HubTokenizer(family), family.asked()) == []


@every_family
def test_the_real_openrlhf_rewards_no_draft(executor: Any, family: Family) -> None:
    """The question ends with a block, which the end token follows in its line."""
    asked = [(family.prompt(RIGHT, opened), draft + family.end, 0.0) for opened, draft in DRAFTS]
    assert wrongly_rewarded(executor, HubTokenizer(family), asked) == []


def test_the_real_openrlhf_rewards_programs_behind_the_space_that_sentencepiece_writes(executor: Any) -> None:
    family = FAMILIES["Llama 2"]
    assert wrongly_rewarded(executor, HubTokenizer(family), family.asked(answer_begins=" ")) == []


@pytest.mark.parametrize("family", [FAMILIES["ChatML"], FAMILIES["Llama 2"]], ids=["ChatML", "Llama 2"])
def test_the_real_openrlhf_rewards_the_response_to_a_prompt_that_it_cut(executor: Any, family: Family) -> None:
    tokenizer = HubTokenizer(family)
    answers = [f"```python\n{RIGHT}\n```", f"```python\n{WRONG}\n```", "I do not know."]

    async def rewards() -> list[float | None]:
        prompt = family.prompt(RIGHT)
        return [await reward_of(executor, tokenizer, prompt, answer + family.end, cut=9) for answer in answers]

    assert asyncio.run(rewards()) == [1.0, 0.0, 0.0]
