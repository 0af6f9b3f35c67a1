"""GGUF fixtures: tiny random checkpoints of tests/gguf in Hugging Face layout, and the same weights as GGUF files.

    pip install torch transformers gguf
    python crates/learner/scripts/quantised.py make crates/learner/tests/gguf

Writes one folder for every architecture: `hf/` (as transformers saves it, float16), `f16.gguf` (the same numbers) and `q8_0.gguf`
(matrices in blocks of 32 with 8 bits a weight). The container is written by the `gguf` package of llama.cpp's authors, and names and
layouts follow llama.cpp's own converter: Llama's query and key rows are interleaved, Qwen's are not. Not needed to run the tests;
the seeds are fixed, and the same versions write the same files.
"""

import argparse
import pathlib
import shutil

import gguf
import numpy
import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM

# Rows are whole blocks of 32, as q8_0 wants them.
SHAPE = dict(
    vocab_size=104, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=512, hidden_act="silu", attention_dropout=0.0,
)
CASES = {
    "qwen2": dict(tie_word_embeddings=True, rope_theta=1e6, rms_norm_eps=1e-6),
    "qwen3": dict(tie_word_embeddings=True, rope_theta=1e6, rms_norm_eps=1e-6, head_dim=16, num_key_value_heads=1),
    "llama": dict(rope_theta=5e5, rms_norm_eps=1e-5),
}
NAMES = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
}


def randomise(model, seed):
    """Weights large enough that attention is not flat and logits are not all alike; numbers of float16."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if name.endswith("bias"):
                noise = 0.5 * noise
            elif parameter.dim() == 1:
                noise = 1 + 0.2 * noise
            elif "embed" in name or "lm_head" in name:
                noise = 0.5 * noise
            else:
                noise = noise * 1.4 / parameter.shape[1] ** 0.5
            parameter.copy_(noise.half().float())


def gguf_name(name):
    module, kind = name.rsplit(".", 1)
    if module.startswith("model.layers."):
        number, module = module.removeprefix("model.layers.").split(".", 1)
        return f"blk.{number}.{NAMES[module]}.{kind}"
    return f"{NAMES[module]}.{kind}"


def interleaved(values, heads):
    """Rows i and i + dim/2 of a head side by side: the order in which llama.cpp rotates Llama's queries and keys."""
    return values.reshape(heads, 2, -1, values.shape[1]).swapaxes(1, 2).reshape(values.shape)


def tensors(model, architecture):
    config = model.config
    for name, parameter in sorted(model.named_parameters()):
        values = parameter.detach().float().numpy()
        if architecture == "llama" and name.endswith("q_proj.weight"):
            values = interleaved(values, config.num_attention_heads)
        if architecture == "llama" and name.endswith("k_proj.weight"):
            values = interleaved(values, config.num_key_value_heads)
        yield gguf_name(name), numpy.ascontiguousarray(values)


def write(path, model, architecture, kind):
    config, writer = model.config, gguf.GGUFWriter(path, architecture)
    heads = config.num_attention_heads
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // heads
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    if architecture != "qwen2":
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    if architecture == "llama":
        writer.add_rope_dimension_count(head_dim)
        writer.add_vocab_size(config.vocab_size)
    writer.add_eos_token_id(0)
    for name, values in tensors(model, architecture):
        if values.ndim == 1:
            writer.add_tensor(name, values)
        else:
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make(root, name, case, seed):
    config = AutoConfig.for_model(name, **(SHAPE | case), bos_token_id=1, eos_token_id=0, pad_token_id=None)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float32)
    randomise(model, seed)
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for kind in (gguf.GGMLQuantizationType.F16, gguf.GGMLQuantizationType.Q8_0):
        write(folder / f"{kind.name.lower()}.gguf", model, name, kind)
    model.half().save_pretrained(folder / "hf")
    print(name, sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()), "bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_subparsers(dest="command", required=True).add_parser("make").add_argument("root", type=pathlib.Path)
    arguments = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()
    for number, (name, case) in enumerate(CASES.items()):
        make(arguments.root, name, case, seed=300 + number)


if __name__ == "__main__":
    main()
