"""OpenRLHF's and slime's own decoding with the tokenizers of transformers, which both keep special tokens in what they have judged.

slime is not on PyPI: `PYTHONPATH` has to name a clone of github.com/THUDM/slime, else its tests are skipped.
"""

from __future__ import annotations

import asyncio
from argparse import Namespace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from chats import FAMILIES, TRUTH, Family, wrongly_rewarded
from scripted import Handler, Step, serving

import veriplay.openrlhf

every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def hub_tokenizer(family: Family, clean_up: bool = False) -> Any:
    """The family's tokenizer as transformers has it. With `clean_up`, decoding drops spaces before some signs, as it does for Llama 3."""
    transformers = pytest.importorskip("transformers")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=family.tokenizer(), eos_token=family.end, clean_up_tokenization_spaces=clean_up
    )


@every_family
@pytest.mark.parametrize("clean_up", [False, True], ids=["", "clean up"])
@pytest.mark.parametrize("by_url", [False, True], ids=["file", "url"])
def test_the_real_openrlhf_rewards_what_a_model_wrote(
    at_service: str, openrlhf_agent: Any, family: Family, clean_up: bool, by_url: bool
) -> None:
    pytest.importorskip("torch")
    tokenizer = hub_tokenizer(family, clean_up)
    where = f"{at_service}/get_reward" if by_url else veriplay.openrlhf.__file__
    executor = openrlhf_agent.SingleTurnAgentExecutor(where)
    assert wrongly_rewarded(executor, tokenizer, family.asked()) == []


def slime_settings(engine: str, service: str, tokenizer: Path) -> Namespace:
    """The arguments that slime's rollout reads, with its defaults where it has some."""
    address = urlsplit(engine)
    return Namespace(
        hf_checkpoint=str(tokenizer),
        rm_type="remote_rm",
        rm_url=f"{service}/get_reward",
        rollout_skip_special_tokens=False,
        sglang_router_ip=address.hostname,
        sglang_router_port=address.port,
        sglang_server_concurrency=64,
        sglang_dp_size=1,
        rollout_num_engines=1,
        use_distributed_post=False,
        use_rollout_routing_replay=False,
        rollout_temperature=1.0,
        rollout_top_p=1.0,
        rollout_top_k=-1,
        rollout_max_response_len=4096,
        rollout_stop=None,
        rollout_stop_token_ids=None,
        partial_rollout=False,
        group_rm=False,
        custom_generate_function_path=None,
        custom_rm_path=None,
        ci_test=False,
    )


@every_family
def test_the_real_slime_rewards_what_a_model_wrote(
    at_service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: Family
) -> None:
    rollout = pytest.importorskip("slime.rollout.sglang_rollout")
    from slime.rollout import rm_hub
    from slime.utils import http_utils
    from slime.utils.types import Sample

    # What it keeps for a process belongs to one event loop and one family here.
    monkeypatch.setattr(http_utils, "_http_client", None)
    monkeypatch.setattr(rm_hub, "_shared_session", None)
    rollout.GenerateState.clear_instances()
    tokenizer = hub_tokenizer(family)
    tokenizer.save_pretrained(tmp_path)

    def generates(answer: str) -> Step:
        """What SGLang answers, which decodes as it is asked to."""
        tokens = tokenizer.encode(answer, add_special_tokens=False)

        def step(handler: Handler) -> None:
            names = ("skip_special_tokens", "spaces_between_special_tokens")
            how = {name: handler.body["sampling_params"][name] for name in names}
            logprobs = [[-1.0, token, None] for token in tokens]
            meta = {"output_token_logprobs": logprobs, "finish_reason": {"type": "stop"}, "prompt_tokens": 1}
            handler.reply(200, {"text": tokenizer.decode(tokens, **how), "meta_info": meta})

        return step

    async def roll_out(args: Namespace) -> list[Any]:
        http_utils.init_http_client(args)
        samples = [Sample(prompt=prompt, label=TRUTH) for prompt, _, _ in family.asked()]
        try:
            params = rollout.GenerateState(args).sampling_params
            return [await rollout.generate_and_rm(args, sample, params.copy()) for sample in samples]
        finally:
            await rm_hub._get_shared_session().close()

    with serving(*(generates(answer) for _, answer, _ in family.asked())) as engine:
        found = asyncio.run(roll_out(slime_settings(engine.url, at_service, tmp_path)))
    assert all(sample.response.endswith(family.end) for sample in found)
    judged = zip(family.asked(), (sample.reward for sample in found), strict=True)
    assert [(case, reward) for case, reward in judged if reward != case[-1]] == []
