"""Parity with transformers: makes the fixtures of tests/parity, and checks checkpoints that this learner saved.

    pip install torch transformers
    python crates/learner/scripts/parity.py make  crates/learner/tests/parity
    cargo run -p veriplay-learner --example resave -- crates/learner/tests/parity/NAME OUT      # for every NAME
    python crates/learner/scripts/parity.py check crates/learner/tests/parity/NAME OUT

`make` writes one folder for every case, or for those named behind the folder: a tiny checkpoint with random weights, as transformers saves it, and

    expected.json         what was asked (sequences, weights) and the greedy continuations
    expected.safetensors  logits.I [rows, vocab] of sequence I, logprobs.I [response] of its response tokens, and
                          grad.NAME of every parameter, for the loss of expected.json

The loss is sum over sequences of weight * sum over response tokens of -log p, divided by `normalizer`: transformers computes it
on ONE right-padded batch with an attention mask, in float32 with eager attention. Greedy continuations come from `generate`
on one left-padded batch. Not needed to run the tests; the seeds are fixed, and the same versions write the same files.
"""

import argparse
import json
import pathlib
import shutil

import safetensors.torch
import torch
import transformers
from torch.nn.functional import log_softmax
from transformers import AutoConfig, AutoModelForCausalLM

VOCAB = 72
NEW_TOKENS = 20
# A continuation may not hang on rounding: the likeliest token must lead by this much at every step.
MARGIN = 1e-3

SHAPE = dict(
    vocab_size=VOCAB, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=320, hidden_act="silu", attention_dropout=0.0,
)
LLAMA3 = dict(factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=64)

# name, config of transformers, how it is stored. `old` rewrites config.json as transformers 4 wrote it; `stored_head` stores the embedding of
# a tied model once more as `lm_head.weight`, as Qwen3-0.6B and Qwen3-1.7B are published.
CASES = {
    "qwen2-tied": dict(
        config=dict(model_type="qwen2", tie_word_embeddings=True, rope_theta=1e6, rms_norm_eps=1e-6),
        lengths=[(9, 7), (1, 5), (9, 1), (30, 12), (2, 26)], layout="old"),
    "qwen2-sharded": dict(
        config=dict(model_type="qwen2", rope_theta=1e4, rms_norm_eps=1e-5),
        lengths=[(5, 11), (17, 3), (1, 1), (11, 20)], layout="new", shard="24KB"),
    "qwen3-tied": dict(
        config=dict(model_type="qwen3", tie_word_embeddings=True, rope_theta=1e6, head_dim=10, num_key_value_heads=1),
        lengths=[(9, 7), (1, 5), (9, 2), (30, 12)], layout="new"),
    "qwen3-untied": dict(
        config=dict(model_type="qwen3", rope_theta=1e4, head_dim=8, num_key_value_heads=4),
        lengths=[(12, 4), (3, 19), (24, 24)], layout="old", dtype=torch.bfloat16),
    "llama-scaled": dict(
        config=dict(model_type="llama", tie_word_embeddings=True, rope_theta=1e4, head_dim=16, num_attention_heads=3,
                    num_key_value_heads=1, rope_scaling=dict(rope_type="llama3", **LLAMA3)),
        lengths=[(40, 10), (200, 60), (3, 17)], layout="old"),
    "llama-untied": dict(
        config=dict(model_type="llama", rope_theta=5e5, rms_norm_eps=1e-5),
        lengths=[(8, 8), (1, 30), (19, 5)], layout="new", dtype=torch.float16),
    "llama-scaled-new": dict(
        config=dict(model_type="llama", rope_theta=1e4, head_dim=12,
                    rope_scaling=dict(rope_type="llama3", **(LLAMA3 | dict(factor=4.0, original_max_position_embeddings=32)))),
        lengths=[(70, 20), (20, 9)], layout="new"),
    "qwen3-stored-head": dict(
        config=dict(model_type="qwen3", tie_word_embeddings=True, rope_theta=1e6, head_dim=8),
        lengths=[(6, 5), (13, 8)], layout="new", shard="24KB", dtype=torch.bfloat16, stored_head=True),
    "mistral-untied": dict(
        config=dict(model_type="mistral", rope_theta=1e6, rms_norm_eps=1e-5, head_dim=10, num_key_value_heads=1, sliding_window=None),
        lengths=[(7, 9), (25, 14)], layout="new", seed=208),
    "mistral-tied": dict(
        config=dict(model_type="mistral", tie_word_embeddings=True, rope_theta=1e4, sliding_window=SHAPE["max_position_embeddings"]),
        lengths=[(11, 6), (2, 21), (40, 4)], layout="old"),
    "smollm3-tied": dict(
        config=dict(model_type="smollm3", tie_word_embeddings=True, rope_theta=5e6, no_rope_layer_interval=2),
        lengths=[(9, 8), (2, 22), (33, 6)], layout="old", seed=200),
    "smollm3-untied": dict(
        config=dict(model_type="smollm3", tie_word_embeddings=False, rope_theta=1e4, num_hidden_layers=3, no_rope_layers=[0, 1, 0],
                    num_attention_heads=3, num_key_value_heads=1),
        lengths=[(12, 7), (28, 11)], layout="new", seed=200),
    # Three pairs of each head are rotated, by a LongRoPE as of Phi-4-mini.
    "phi3-tied": dict(
        config=dict(model_type="phi3", tie_word_embeddings=True, num_attention_heads=3, num_key_value_heads=1, sliding_window=512,
                    original_max_position_embeddings=80,
                    rope_parameters=dict(rope_type="longrope", rope_theta=1e4, partial_rotary_factor=0.75, short_factor=[1.0, 1.3, 2.1],
                                         long_factor=[1.0, 4.0, 9.0], original_max_position_embeddings=80)),
        lengths=[(10, 8), (2, 20), (55, 6)], layout="old", seed=200),
    "phi3-untied": dict(
        config=dict(model_type="phi3", rope_theta=2.5e5, rms_norm_eps=1e-5),
        lengths=[(14, 6), (26, 12)], layout="new", seed=200),
}


def randomise(model, seed):
    """Weights large enough that attention is not flat and logits are not all alike."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if name.endswith("bias"):
                parameter.copy_(0.5 * noise)
            elif parameter.dim() == 1:
                parameter.copy_(1 + 0.2 * noise)
            elif "embed" in name or "lm_head" in name:
                parameter.copy_(0.5 * noise)
            else:
                parameter.copy_(noise * 1.4 / parameter.shape[1] ** 0.5)


def new_model(case, seed):
    config = AutoConfig.for_model(**(SHAPE | case["config"]), bos_token_id=1, eos_token_id=2, pad_token_id=0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float32)
    randomise(model, seed)
    return model


def load(path):
    model = AutoModelForCausalLM.from_pretrained(path, attn_implementation="eager", dtype=torch.float32)
    return model.eval()


def old_layout(config):
    """config.json as transformers 4 wrote it: `rope_theta`, `rope_scaling`, `torch_dtype`."""
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = rope if rope.get("rope_type", "default") != "default" else None
    if config["model_type"] == "phi3":  # the other keys are outside of the table
        config["partial_rotary_factor"] = rope["partial_rotary_factor"]
        if config["rope_scaling"]:
            config["rope_scaling"] = dict(type=rope["rope_type"], short_factor=rope["short_factor"], long_factor=rope["long_factor"])
    config["torch_dtype"] = config.pop("dtype")
    config.pop("layer_types", None)
    if config["model_type"] == "qwen2":  # as the files of Qwen2.5 have it: a window, and the switch off
        config.update(sliding_window=128, max_window_layers=1, use_sliding_window=False)
    config["transformers_version"] = "4.51.0"
    return config


def sequences(case, seed):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda n: torch.randint(3, VOCAB, (n,), generator=generator).tolist()
    weights = [1.0, -0.7, 0.25, 1.5, -0.4]
    out, shared = [], {}
    for (prompt, response), weight in zip(case["lengths"], weights):
        # Sequences whose prompts are equally long share one prompt: the learner computes it once.
        prompt = shared.setdefault(prompt, draw(prompt))
        out.append(dict(prompt=prompt, response=draw(response), weight=weight))
    return out


def padded(rows, side):
    width = max(map(len, rows))
    pad = lambda row: [0] * (width - len(row))
    ids = [row + pad(row) if side == "right" else pad(row) + row for row in rows]
    mask = [[1] * len(row) + pad(row) if side == "right" else pad(row) + [1] * len(row) for row in rows]
    return torch.tensor(ids), torch.tensor(mask)


def response_logprobs(logits, sequence):
    prompt, response = sequence["prompt"], torch.tensor(sequence["response"])
    rows = logits[len(prompt) - 1 : len(prompt) - 1 + len(response)]
    return log_softmax(rows, -1).gather(1, response[:, None])[:, 0]


def forward(model, cases):
    """Logits of every sequence, from one right-padded batch."""
    rows = [s["prompt"] + s["response"] for s in cases]
    ids, mask = padded(rows, "right")
    logits = model(input_ids=ids, attention_mask=mask).logits
    return [logits[i, : len(row)] for i, row in enumerate(rows)]


def gradients(model, cases, normalizer):
    model.zero_grad()
    logits = forward(model, cases)
    loss = sum(s["weight"] * -response_logprobs(l, s).sum() for s, l in zip(cases, logits)) / normalizer
    loss.backward()
    missing = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not missing, missing
    return loss.item(), {name: p.grad.clone() for name, p in model.named_parameters()}


def greedy(model, prompts, eos):
    ids, mask = padded(prompts, "left")
    config = transformers.GenerationConfig(do_sample=False, max_new_tokens=NEW_TOKENS, eos_token_id=eos, pad_token_id=0)
    with torch.no_grad():
        out = model.generate(input_ids=ids, attention_mask=mask, generation_config=config)
    continuations = []
    for row in out[:, ids.shape[1] :].tolist():
        ends = [i for i, token in enumerate(row) if eos and token in eos]
        continuations.append(row[: ends[0] + 1] if ends else row)
    return continuations


def leads(model, prompts, continuations):
    """The smallest lead of the likeliest token over the second, over all steps."""
    lead = float("inf")
    for prompt, continuation in zip(prompts, continuations):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([prompt + continuation])).logits[0, len(prompt) - 1 : -1]
        top = logits.topk(2).values
        assert logits.argmax(-1).tolist() == continuation
        lead = min(lead, (top[:, 0] - top[:, 1]).min().item())
    return lead


def end_tokens(continuations):
    """Two end tokens: one that ends some continuation in its middle, if there is such a token, and one that ends none."""
    seen = {token for row in continuations for token in row}
    middle = [row[i] for i in range(3, NEW_TOKENS) for row in continuations if row[i] not in row[:i]]
    unseen = [token for token in range(3, VOCAB) if token not in seen]
    common = lambda token: sum(token in row for row in continuations)
    return [min(middle, key=common) if middle else unseen[1], unseen[0]]


def write_checkpoint(case, model, eos, path):
    model = model.to(case.get("dtype", torch.float32))
    model.config.dtype = case.get("dtype", torch.float32)
    model.generation_config = transformers.GenerationConfig(eos_token_id=eos, pad_token_id=0, bos_token_id=1)
    model.save_pretrained(path, max_shard_size=case.get("shard", "1GB"))
    if case.get("stored_head"):
        store_head(path)
    if case["layout"] == "old":
        file = path / "config.json"
        file.write_text(json.dumps(old_layout(json.loads(file.read_text())), indent=2, sort_keys=True) + "\n")


def store_head(path):
    """Stores the embedding once more as `lm_head.weight`, in the shard of the last tensor."""
    index = json.loads((path / "model.safetensors.index.json").read_text())
    embedding = safetensors.torch.load_file(path / index["weight_map"]["model.embed_tokens.weight"])["model.embed_tokens.weight"]
    last = index["weight_map"]["model.norm.weight"]
    assert last != index["weight_map"]["model.embed_tokens.weight"]
    tensors = safetensors.torch.load_file(path / last) | {"lm_head.weight": embedding}
    safetensors.torch.save_file(tensors, path / last, metadata={"format": "pt"})
    index["weight_map"]["lm_head.weight"] = last
    (path / "model.safetensors.index.json").write_text(json.dumps(index, indent=2, sort_keys=True) + "\n")


def make(name, case, root, seed):
    path = root / name
    shutil.rmtree(path, ignore_errors=True)
    prompts = [s["prompt"] for s in sequences(case, seed)] + [[5, 6, 7, 8, 9, 10, 11]]
    write_checkpoint(case, new_model(case, seed), [2], path)
    free = greedy(load(path), prompts, None)
    eos = end_tokens(free)
    write_checkpoint(case, new_model(case, seed), eos, path)
    model = load(path)
    cases = sequences(case, seed)
    normalizer = float(sum(len(s["response"]) for s in cases))
    with torch.no_grad():
        logits = forward(model, cases)
        alone = [model(input_ids=torch.tensor([s["prompt"] + s["response"]])).logits[0] for s in cases]
    spread = max((a - b).abs().max().item() for a, b in zip(logits, alone))
    loss, grads = gradients(model, cases, normalizer)
    continuations = greedy(model, prompts, eos)
    lead = leads(model, prompts, continuations)
    assert lead > MARGIN, f"{name}: seed {seed} leads by {lead}; take another"
    tensors = {f"grad.{key}": value for key, value in grads.items()}
    for i, (sequence, rows) in enumerate(zip(cases, logits)):
        tensors[f"logits.{i}"] = rows[-48:].contiguous()
        tensors[f"logprobs.{i}"] = response_logprobs(rows, sequence).contiguous()
    safetensors.torch.save_file(tensors, path / "expected.safetensors")
    expected = dict(
        transformers=transformers.__version__, torch=torch.__version__, seed=seed, loss=loss, normalizer=normalizer,
        eos=eos, max_tokens=NEW_TOKENS, sequences=cases,
        greedy=[dict(prompt=p, continuation=c) for p, c in zip(prompts, continuations)],
    )
    (path / "expected.json").write_text(json.dumps(expected) + "\n")
    lengths = [len(c) for c in continuations]
    print(f"{name}: loss {loss:.4f}, padded against alone {spread:.1e}, lead {lead:.1e}, ends {lengths}")


def check(source, saved):
    """A checkpoint this learner saved against what transformers made of the one it had loaded.

    Run under transformers 4 as well: what we save is to load there too, also where the source has the layout of version 5.
    """
    model = load(saved)
    expected = json.loads((source / "expected.json").read_text())
    tensors = safetensors.torch.load_file(source / "expected.safetensors")
    assert type(model).__name__ in json.loads((source / "config.json").read_text())["architectures"]
    assert model.generation_config.eos_token_id == expected["eos"]
    with torch.no_grad():
        logits = forward(model, expected["sequences"])
    wanted = [tensors[f"logits.{i}"] for i in range(len(logits))]
    worst = max(((a[-len(b):] - b).abs().max() / b.abs().max()).item() for a, b in zip(logits, wanted))
    assert worst <= 1e-5, f"{saved}: logits are {worst} away"
    continuations = greedy(model, [g["prompt"] for g in expected["greedy"]], expected["eos"])
    assert continuations == [g["continuation"] for g in expected["greedy"]]
    print(f"{saved.name}: {type(model).__name__} of transformers {transformers.__version__}, logits {worst:.0e} away, "
          "continuations identical")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    maker = commands.add_parser("make")
    maker.add_argument("root", type=pathlib.Path)
    maker.add_argument("names", nargs="*", help="of these cases alone")
    checker = commands.add_parser("check")
    checker.add_argument("source", type=pathlib.Path)
    checker.add_argument("saved", type=pathlib.Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    if arguments.command == "check":
        return check(arguments.source, arguments.saved)
    for number, (name, case) in enumerate(CASES.items()):
        if arguments.names and name not in arguments.names:
            continue
        make(name, case, arguments.root, seed=case.get("seed", 100 + number))


if __name__ == "__main__":
    main()
