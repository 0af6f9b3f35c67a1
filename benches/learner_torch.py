"""The baseline of `veriplay bench learner`: the same work in PyTorch eager with a Qwen of transformers, random weights, float32
(on a card also bf16, by autocast), on the device that the work names.

    pip install torch transformers
    veriplay bench learner --python PYTHON        # starts this script and talks to it

Protocol, one line each: the first line of stdin is the work as JSON; this answers {"ready": versions, "threads": N} or
{"absent": why}. Then each line asks for one thing, and is answered with {"seconds": S}:

    train       forward, backward, clipping and an AdamW step on all sequences; the loss is over the responses' tokens
    generate    continues all prompts, left-padded, by sampling at temperature 1: `samples` of each, `new_tokens` each, no end token
    gemm        a product of two square matrices of 2,048; "flops" is its rate

The script ends with its input.
"""

import json
import sys
import time


def ready(work):
    import torch
    import transformers
    from transformers import AutoConfig, AutoModelForCausalLM

    if work["device"] != "cpu" and not torch.cuda.is_available():
        raise ImportError(f"torch {torch.__version__} finds no {work['device']}")
    torch.manual_seed(0)
    torch.set_num_threads(work["threads"])
    config = AutoConfig.for_model(**work["shape"])
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).to(work["device"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    versions = f"torch {torch.__version__}, transformers {transformers.__version__}"
    return torch, model, optimizer, {"ready": versions, "threads": torch.get_num_threads()}


def lower(torch, work):
    """The precision that is asked for; weights stay float32."""
    return torch.autocast(work["device"].split(":")[0], torch.bfloat16, enabled=work["precision"] == "bf16")


def wait(torch, work):
    if work["device"] != "cpu":
        torch.cuda.synchronize(work["device"])


def train(torch, model, optimizer, work):
    ids = torch.tensor(work["sequences"], device=work["device"])
    response = work["response"]
    model.train()
    # Logits of the responses' tokens alone, as the other side computes them.
    with lower(torch, work):
        logits = model(input_ids=ids, logits_to_keep=response + 1, use_cache=False).logits[:, :-1]
    loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), ids[:, -response:].flatten())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def generate(torch, model, work):
    prompts = work["prompts"]
    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(row)) + row for row in prompts], device=work["device"])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in prompts], device=work["device"])
    new, samples, computed = work["new_tokens"], work["samples"], {}
    model.eval()
    with torch.no_grad(), lower(torch, work):
        if samples > 1:
            # Prompts are computed once, and their keys and values copied for each sample.
            past = model(input_ids=ids[:, :-1], attention_mask=mask[:, :-1], logits_to_keep=1).past_key_values
            past.batch_repeat_interleave(samples)
            computed = {"past_key_values": past}
            ids, mask = (rows.repeat_interleave(samples, dim=0) for rows in (ids, mask))
        out = model.generate(
            input_ids=ids, attention_mask=mask, do_sample=True, temperature=1.0, top_k=0, top_p=1.0,
            max_new_tokens=new, min_new_tokens=new, eos_token_id=None, pad_token_id=0, **computed,
        )
    assert out.shape == (len(prompts) * samples, width + new), out.shape


def gemm(torch, work):
    dtype = torch.bfloat16 if work["precision"] == "bf16" else torch.float32
    a, b = (torch.randn(2048, 2048, device=work["device"], dtype=dtype) for _ in range(2))
    torch.mm(a, b)
    wait(torch, work)
    begin = time.perf_counter()
    torch.mm(a, b)
    wait(torch, work)
    return 2 * 2048**3 / (time.perf_counter() - begin)


def main():
    say = lambda answer: print(json.dumps(answer), flush=True)
    work = json.loads(sys.stdin.readline())
    try:
        torch, model, optimizer, hello = ready(work)
    except ImportError as error:
        return say({"absent": str(error)})
    say(hello)
    for line in sys.stdin:
        begin = time.perf_counter()
        answer = {}
        if line.strip() == "train":
            train(torch, model, optimizer, work)
        elif line.strip() == "generate":
            generate(torch, model, work)
        else:
            answer["flops"] = gemm(torch, work)
        wait(torch, work)
        say(answer | {"seconds": time.perf_counter() - begin})


if __name__ == "__main__":
    main()
