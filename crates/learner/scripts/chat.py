"""Tokenizers and chat templates as transformers has them: makes the fixtures of tests/chat.

    pip install torch transformers
    python crates/learner/scripts/chat.py crates/learner/tests/chat

Every folder holds a small byte-level BPE tokenizer with special tokens and a chat template, as transformers saves them (`old` in the
layout of version 4: the template inside tokenizer_config.json), and `expected.json`: texts with their ids, ids with their text, and
conversations with the prompt that `apply_chat_template` makes of them, or with the message of its refusal. The templates are
written for this test; between them they use what the templates of released models use. Not needed to run the tests.
"""

import datetime
import json
import pathlib
import shutil
import sys

import jinja2
import tokenizers
import transformers
from tokenizers import decoders, models, pre_tokenizers, processors, trainers
from transformers.utils import chat_template_utils

NOW = 1_725_537_600  # 2024-09-05 12:00 UTC

TEXT = """def f(x):
    return sorted(x)[::-1]

The quick brown fox jumps over the lazy dog. Every program has one entry, and every answer one value.
def g(numbers): return [n * n for n in numbers if n % 2 == 0]
Ein Wörterbuch, 世界, émigré, naïve, 12345 and 67 890.
"""

TEXTS = [
    "", " ", "def f(x):\n    return x", "hello world", "  two  spaces ", "tabs\tand\r\nlines\n\n\n", "naïve émigré 世界 🙂",
    "<|turn|>user\nhi<|end|>", "a<|end|>b <|end|> c", "1234567", "it's we'll DON'T", "\u00a0nbsp\u200b", "<|pad|>", "<|turn|",
]

PLAIN = """{%- for message in messages %}
    {%- if loop.first and message.role != 'system' %}
        {{- '<|turn|>system\\nYou answer with code.<|end|>\\n' }}
    {%- endif %}
    {{- '<|turn|>' + message['role'] + '\\n' + message['content'] + '<|end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|turn|>assistant\\n' }}
{%- endif %}
"""

THINKING = """{%- macro shown(content) -%}
    {%- if content is string -%}{{ content }}{%- else -%}
        {%- for part in content -%}{%- if part.type == 'text' -%}{{ part.text }}{%- endif -%}{%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
{%- set ns = namespace(last=-1, seen=false) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if not ns.seen and message.role == 'user' and not shown(message.content).startswith('<tool>') %}
        {%- set ns.last = index %}{%- set ns.seen = true %}
    {%- endif %}
{%- endfor %}
{%- if tools %}
{{- '<|turn|>system\\nTools:' }}
{%- for tool in tools %}
{{- '\\n' ~ (tool | tojson) }}
{%- endfor %}
{{- '<|end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role not in ['system', 'user', 'assistant', 'tool'] %}{%- continue %}{%- endif %}
    {%- if message.role == 'assistant' %}
        {%- generation %}
        {%- set content = shown(message.content) %}
        {%- set thought = '' %}
        {%- if message.reasoning is defined and message.reasoning is not none %}
            {%- set thought = message.reasoning %}
        {%- elif '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|turn|>assistant\\n' }}
        {%- if loop.index0 > ns.last and thought %}{{- '<think>\\n' + thought.strip() + '\\n</think>\\n\\n' }}{%- endif %}
        {{- content }}
        {%- for call in message.get('calls') or [] %}
            {{- '\\n<call>{"name": "' }}{{- call.name }}{{- '", "arguments": ' }}
            {{- call.arguments if call.arguments is string else call.arguments | tojson }}{{- '}</call>' }}
        {%- endfor %}
        {{- '<|end|>\\n' }}
        {%- endgeneration %}
    {%- elif message.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|turn|>user' }}{%- endif %}
        {{- '\\n<tool>' + message.content + '</tool>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|end|>\\n' }}{%- endif %}
    {%- else %}
        {{- '<|turn|>' + message.role + '\\n' + shown(message.content) | trim + '<|end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|turn|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}
"""

STRICT = """{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set system = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = "" %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}{%- endif %}
{%- endif %}
{{- "<|turn|>system\\n\\nToday: " + date_string + "\\n" }}
{%- if tools is not none %}
    {{- "Functions:\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n" }}
    {%- endfor %}
{%- endif %}
{{- system }}
{{- eos_token }}
{%- for message in messages %}
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
    {{ raise_exception('roles must alternate: user, assistant, user, and so on; message ' ~ loop.index0 ~ ' is by ' ~ message.role) }}
{% endif %}
    {%- for key, value in message.items() if key != 'content' %}[{{ key }}={{ value }}]{%- endfor %}
    {{- message['content'].strip() | replace('  ', ' ') }}{{ eos_token }}
{%- if loop.last %}{{ ' last=' ~ loop.length }} {{ loop.last }} {{ none }}{% endif %}
{%- endfor %}
{% if add_generation_prompt %}
<|turn|>assistant
{% endif %}
"""

# As Llama 3.2's does: the date where there is one to be had, and one of its own otherwise.
DATED = """{{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{{- "<|turn|>system\\n\\nToday Date: " + date_string + "\\n\\n" }}
{%- for message in messages %}
    {{- '<|turn|>' + message['role'] + '\\n\\n'+ message['content'] | trim + eos_token }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|turn|>assistant\\n\\n' }}
{%- endif %}
"""
OWN_DATE = "26 Jul 2024"

WITH_TOOLS = "{{ tools | tojson }}|{% for m in messages %}{{ m.content }};{% endfor %}"

TOOLS = [
    {"type": "function", "function": {"name": "run", "description": "Runs a program: <py> & 'more' \"é\"", "parameters": {
        "type": "object", "properties": {"program": {"type": "string"}, "limit": {"type": "number", "default": 1e-05},
        "all": {"type": "boolean", "default": True}, "none": {"default": None}, "big": {"default": 12345678901234567890},
        "half": {"default": 0.5}, "many": {"default": []}, "empty": {"default": {}}}, "required": ["program"]}}},
]

USER = {"role": "user", "content": "Write f."}
CHATS = [
    dict(messages=[USER]),
    dict(messages=[USER], add_generation_prompt=False),
    dict(messages=[{"role": "system", "content": "  Be brief. "}, USER, {"role": "assistant", "content": "ok\n"},
                   {"role": "user", "content": "And  g?"}]),
    dict(messages=[USER, {"role": "assistant", "content": "<think>\nwell\n</think>\n\nf"}, USER,
                   {"role": "assistant", "content": "<think>\nhm\n</think>\n\ng", "name": "x"}], add_generation_prompt=False),
    dict(messages=[USER, {"role": "assistant", "content": "", "calls": [{"name": "run", "arguments": {"z": 1, "a": [1.5, "é", None]}}]},
                   {"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}]),
    dict(messages=[USER], tools=TOOLS),
    dict(messages=[USER], enable_thinking=False),
    dict(messages=[USER], date_string="1 May 2025"),
    dict(messages=[{"role": "assistant", "content": "first"}]),
    dict(messages=[{"role": "nobody", "content": "?"}, {"role": "user", "content": [{"type": "text", "text": "in parts"}]}]),
]


def tokenizer(post):
    inner = tokenizers.Tokenizer(models.BPE())
    pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    inner.normalizer = tokenizers.normalizers.NFC()
    inner.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    inner.decoder = decoders.ByteLevel()
    special = ["<|pad|>", "<|begin|>", "<|end|>", "<|turn|>"]
    inner.train_from_iterator([TEXT], trainers.BpeTrainer(
        vocab_size=330, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    inner.add_tokens(["<think>", "</think>"])
    if post:
        inner.post_processor = processors.TemplateProcessing(
            single="<|begin|> $A", pair="<|begin|> $A $B", special_tokens=[("<|begin|>", 1)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<|begin|>", eos_token="<|end|>", pad_token="<|pad|>",
        extra_special_tokens=["<|turn|>"])


class Frozen(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(NOW, datetime.timezone.utc)


def expected(tok, own_date):
    def rendered(chat):
        chat = dict(add_generation_prompt=True) | chat
        try:
            return dict(chat=json.dumps(chat), text=tok.apply_chat_template(
                chat["messages"], tokenize=False, **{k: v for k, v in chat.items() if k != "messages"}))
        except jinja2.exceptions.TemplateError as error:
            return dict(chat=json.dumps(chat), refused=str(error))
        except TypeError as error:
            return dict(chat=json.dumps(chat), failed=str(error))
    ids = lambda text, around: tok(text, add_special_tokens=around)["input_ids"]
    return dict(
        transformers=transformers.__version__, tokenizers=tokenizers.__version__, now=NOW,
        texts=[dict(text=t, ids=ids(t, False), document=ids(t, True), decoded=tok.decode(ids(t, False))) for t in TEXTS],
        special=sorted(tok.all_special_ids),
        chats=[rendered(chat) for chat in CHATS],
        # transformers always has a date: what a template makes of none is what it makes of its own.
        **(dict(dateless=[dict(chat=json.dumps(chat), text=rendered(chat | dict(date_string=OWN_DATE))["text"]) for chat in CHATS[:3]])
           if own_date else {}),
    )


def save(root, name, templates, post=False, old=False):
    path = root / name
    shutil.rmtree(path, ignore_errors=True)
    tok = tokenizer(post)
    tok.chat_template = templates["default"] if len(templates) == 1 else templates
    tok.save_pretrained(path)
    if old:
        config = json.loads((path / "tokenizer_config.json").read_text())
        (path / "chat_template.jinja").unlink()
        shutil.rmtree(path / "additional_chat_templates", ignore_errors=True)
        config["chat_template"] = (templates["default"] if len(templates) == 1
                                   else [dict(name=k, template=v) for k, v in templates.items()])
        config["tokenizer_class"] = "PreTrainedTokenizerFast"
        config["eos_token"] = dict(__type="AddedToken", content=config["eos_token"], lstrip=False, rstrip=False, special=True)
        special = dict(bos_token=config.pop("bos_token"), eos_token="<|end|>")
        (path / "special_tokens_map.json").write_text(json.dumps(special))
        (path / "tokenizer_config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False))
    (path / "expected.json").write_text(json.dumps(expected(tok, OWN_DATE in templates["default"]), ensure_ascii=False) + "\n")
    print(name, *(p.name for p in sorted(path.iterdir())))


def main():
    root = pathlib.Path(sys.argv[1])
    chat_template_utils.datetime = Frozen
    save(root, "plain", dict(default=PLAIN))
    save(root, "thinking", dict(default=THINKING, tool_use=WITH_TOOLS), post=True)
    save(root, "thinking-alone-old", dict(default=THINKING), old=True)
    save(root, "strict-old", dict(default=STRICT), post=True, old=True)
    save(root, "dated", dict(default=DATED), post=True)
    save(root, "two-old", dict(default=PLAIN, tool_use=WITH_TOOLS), old=True)


if __name__ == "__main__":
    main()
