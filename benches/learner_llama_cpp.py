"""llama.cpp's side of `veriplay bench learner`: the same batch of prompts continued by a model of the same shape, with random weights
in f16, on the CPU.

    pip install llama-cpp-python gguf
    veriplay bench learner --python PYTHON        # starts this script and talks to it

`learner_torch.py` describes the protocol; the only thing asked for here is `generate`. Weights go through a temporary GGUF file. All
prompts are one batch of llama.cpp's, each a sequence of its own, or one for each of its samples, which share it; tokens are drawn at temperature 1
by its sampler.
"""

import json
import os
import sys
import tempfile
import time


def write_model(path, shape):
    """A model of the shape, without a vocabulary of texts."""
    import gguf
    import numpy as np

    random = np.random.default_rng(0)
    hidden, inner = shape["hidden_size"], shape["intermediate_size"]
    queries = shape["num_attention_heads"] * shape["head_dim"]
    keys = shape["num_key_value_heads"] * shape["head_dim"]
    writer = gguf.GGUFWriter(path, shape["model_type"])
    writer.add_block_count(shape["num_hidden_layers"])
    writer.add_context_length(shape["max_position_embeddings"])
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(shape["num_attention_heads"])
    writer.add_head_count_kv(shape["num_key_value_heads"])
    writer.add_key_length(shape["head_dim"])
    writer.add_value_length(shape["head_dim"])
    writer.add_rope_dimension_count(shape["head_dim"])
    writer.add_rope_freq_base(shape["rope_theta"])
    writer.add_layer_norm_rms_eps(shape["rms_norm_eps"])
    writer.add_vocab_size(shape["vocab_size"])
    writer.add_tokenizer_model("none")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)

    def matrix(name, rows, columns):
        weights = 0.02 * random.standard_normal((rows, columns), dtype=np.float32)
        writer.add_tensor(f"{name}.weight", weights.astype(np.float16))

    def vector(name, length, value):
        writer.add_tensor(name, np.full(length, value, dtype=np.float32))

    matrix("token_embd", shape["vocab_size"], hidden)
    vector("output_norm.weight", hidden, 1)
    if not shape["tie_word_embeddings"]:
        matrix("output", shape["vocab_size"], hidden)
    for layer in range(shape["num_hidden_layers"]):
        block = f"blk.{layer}"
        vector(f"{block}.attn_norm.weight", hidden, 1)
        vector(f"{block}.ffn_norm.weight", hidden, 1)
        for name, rows in (("attn_q", queries), ("attn_k", keys), ("attn_v", keys)):
            matrix(f"{block}.{name}", rows, hidden)
            if shape["model_type"] == "qwen2":
                vector(f"{block}.{name}.bias", rows, 0)
        if shape["model_type"] == "qwen3":
            vector(f"{block}.attn_q_norm.weight", shape["head_dim"], 1)
            vector(f"{block}.attn_k_norm.weight", shape["head_dim"], 1)
        matrix(f"{block}.attn_output", hidden, queries)
        matrix(f"{block}.ffn_gate", inner, hidden)
        matrix(f"{block}.ffn_up", inner, hidden)
        matrix(f"{block}.ffn_down", hidden, inner)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class LlamaCpp:
    def __init__(self, work):
        import llama_cpp

        self.library = llama_cpp
        self.work = work
        self.log = llama_cpp.llama_log_callback(lambda level, text, data: None)  # its messages are not wanted
        llama_cpp.llama_log_set(self.log, None)
        llama_cpp.llama_backend_init()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.gguf")
            write_model(path, work["shape"])
            options = llama_cpp.llama_model_default_params()
            options.use_mmap = False
            self.model = llama_cpp.llama_model_load_from_file(path.encode(), options)
        if not self.model:
            raise RuntimeError("llama.cpp cannot load the model")
        prompts, samples = work["prompts"], work["samples"]
        options = llama_cpp.llama_context_default_params()
        options.n_seq_max = len(prompts) * samples
        if samples == 1:
            longest = max(map(len, prompts)) + work["new_tokens"]
            options.n_ctx = len(prompts) * (longest + -longest % 256)  # of each sequence, a multiple of 256
        else:
            cells = sum(len(prompt) + samples * work["new_tokens"] for prompt in prompts)
            options.n_ctx = cells + -cells % 256
            options.kv_unified = True  # the samples of a prompt have it once
        options.n_batch = max(sum(map(len, prompts)), options.n_seq_max)
        options.n_threads = options.n_threads_batch = work["threads"]
        self.context = llama_cpp.llama_init_from_model(self.model, options)
        if not self.context:
            raise RuntimeError("llama.cpp cannot make a context")
        self.batch = llama_cpp.llama_batch_init(options.n_batch, 0, samples)
        self.sampler = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
        llama_cpp.llama_sampler_chain_add(self.sampler, llama_cpp.llama_sampler_init_temp(1.0))
        llama_cpp.llama_sampler_chain_add(self.sampler, llama_cpp.llama_sampler_init_dist(1))

    def add(self, token, position, sequences, wanted):
        """Adds a token of some sequences to the batch. Its index there."""
        batch = self.batch
        at = batch.n_tokens
        batch.token[at] = token
        batch.pos[at] = position
        batch.n_seq_id[at] = len(sequences)
        for i, sequence in enumerate(sequences):
            batch.seq_id[at][i] = sequence
        batch.logits[at] = wanted
        batch.n_tokens = at + 1
        return at

    def decode(self):
        status = self.library.llama_decode(self.context, self.batch)
        if status != 0:
            raise RuntimeError(f"llama_decode returned {status}")

    def generate(self):
        library = self.library
        prompts, samples = self.work["prompts"], self.work["samples"]
        library.llama_memory_clear(library.llama_get_memory(self.context), False)
        self.batch.n_tokens = 0
        last, lengths = [], []
        for group, prompt in enumerate(prompts):
            sequences = range(group * samples, (group + 1) * samples)
            for position, token in enumerate(prompt):
                at = self.add(token, position, sequences, position + 1 == len(prompt))
            last += [at] * samples
            lengths += [len(prompt)] * samples
        self.decode()
        for new in range(self.work["new_tokens"]):
            tokens = [library.llama_sampler_sample(self.sampler, self.context, at) for at in last]
            if new + 1 == self.work["new_tokens"]:
                break
            self.batch.n_tokens = 0
            last = [
                self.add(token, length + new, [sequence], True)
                for sequence, (length, token) in enumerate(zip(lengths, tokens))
            ]
            self.decode()


def main():
    say = lambda answer: print(json.dumps(answer), flush=True)
    work = json.loads(sys.stdin.readline())
    try:
        peer = LlamaCpp(work)
    except (ImportError, RuntimeError) as error:
        return say({"absent": str(error)})
    say({"ready": f"llama-cpp-python {peer.library.__version__}"})
    for _ in sys.stdin:
        begin = time.perf_counter()
        peer.generate()
        say({"seconds": time.perf_counter() - begin})


if __name__ == "__main__":
    main()
