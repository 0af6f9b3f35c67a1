"""What a prompt says of the response behind it: where it begins in a text that has both, and what it goes on in.

The service does the same for `/get_reward`. `/v1/verify` is sent a response alone, so here it is completed first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ._reward import text_of

__all__ = ["begun_reply", "response_of_query", "with_opened_frame"]

#: What chat templates put before what the model writes. SentencePiece writes a space behind the last but one.
TURN = re.compile(
    r"<\|im_start\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>|<start_of_turn>model|<\|[aA]ssistant\|>|<｜Assistant｜>"
    r"|<\|start\|>assistant|\[/INST\] ?|<\|turn>model"
)
#: A thought that a prompt opens at its end.
THOUGHT = re.compile(
    r"(?:<think>|<thinking>|<thought>|<reasoning>|<seed:think>|◁think▷|\[THINK\]|<\|begin_of_thought\|>)\Z"
)
#: A line that opens or closes a block of code.
FENCE = re.compile(r"^ *(?:```|~~~)[^`~\n]*$", re.MULTILINE)


def response_of_query(query: str, prompt: str) -> str:
    """What follows the prompt in a query. A tokenizer may have spelled the prompt otherwise, and a trainer may have cut it: then the response
    begins behind the last mark of the model's turn, or else behind the prompt's words. A query that has neither is all response."""
    if prompt.strip() and query.startswith(prompt):
        response = query[len(prompt) :]
        return response.removeprefix(" ") if prompt.endswith("[/INST]") else response
    if ends := [turn.end() for turn in TURN.finditer(query)]:
        return query[ends[-1] :].removeprefix("\n")
    words = prompt.strip()
    return query.partition(words)[2] if words and words in query else query


def with_opened_frame(prompt: str, response: str) -> str:
    """A response that goes on in a thought or a block which its prompt opened, with what opens it."""
    begun = TURN.split(prompt)[-1].rstrip()
    if (thought := THOUGHT.search(begun)) and not response.lstrip().startswith(thought[0]):
        return f"{thought[0]}\n{response}"
    if len(FENCE.findall(begun)) % 2 and not FENCE.match(response.lstrip().partition("\n")[0]):
        return f"```python\n{response}"
    return response


def begun_reply(prompt: Any) -> str:
    """What a model goes on from: a prompt's text, or the reply at the end of its messages."""
    if isinstance(prompt, str):
        return prompt
    last = prompt[-1] if isinstance(prompt, Sequence) and prompt else None
    return text_of(last) if isinstance(last, Mapping) and last.get("role") == "assistant" else ""
