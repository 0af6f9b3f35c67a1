"""Right programs as models wrap them score 1 through the functions for trainers, and wrong ones in the same wrappings 0."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import veriplay.trl
import veriplay.verl
from veriplay._prompt import begun_reply, response_of_query, with_opened_frame

#: How a response wraps the whole program, `{}`.
FORMS = {
    "block": "```python\n{}\n```",
    "usage behind": "Here it is:\n\n```python\n{}\n```\n\nAn example:\n\n```python\nprint(FUNCTION)\nassert callable(FUNCTION)\n```\n",
    "end token": "```python\n{}\n```<|im_end|>",
    "unclosed block": "Sure.\n\n```python\n{}\n",
    "prefilled": "{}\n```\n\nThis is the function.",
    "label py3": "```py3\n{}\n```",
    "fence behind prose": "Here is the code: ```python\n{}\n```",
    "thought and answer": (
        "<think>\nA draft:\n```python\ndef FUNCTION(*args):\n    return None\n```\n</think>\n\n<answer>\n{}\n</answer></s>"
    ),
    "doubled fence": "```python\n```python\n{}\n```\n```",
}


@dataclass(frozen=True)
class Sample:
    """A ground truth with a program, which may continue a prompt."""

    truth: Any
    function: str
    program: str
    prompt: str = ""

    def responses(self) -> dict[str, str]:
        """The program in every form, and what continues a prompt: the function alone, and its body alone."""
        whole = f"{self.prompt}{self.program}".rstrip()
        found = {name: form.replace("FUNCTION", self.function).replace("{}", whole) for name, form in FORMS.items()}
        if self.prompt:
            start = self.prompt.rindex(f"def {self.function}(")
            found["function alone"] = f"```python\n{self.prompt[start:]}{self.program}```"
            found["bare body"] = self.program
        return found


def trl_scores(truths: list[Any], texts: list[str]) -> list[Any]:
    """What TRL's trainers would get."""
    return veriplay.trl.executed(prompts=[""] * len(texts), completions=texts, ground_truth=truths)


def trl_chat_scores(truths: list[Any], texts: list[str]) -> list[Any]:
    """The same for a data set of conversations."""
    return trl_scores(truths, [[{"role": "assistant", "content": text}] for text in texts])  # type: ignore[misc]


def verl_scores(truths: list[Any], texts: list[str]) -> list[Any]:
    """What verl's reward managers would get, which await many at once."""

    async def all_scores() -> list[dict[str, float]]:
        calls = (veriplay.verl.compute_score("code", text, truth) for truth, text in zip(truths, texts, strict=True))
        return await asyncio.gather(*calls)

    return [None if found["veriplay_unjudged"] else found["score"] for found in asyncio.run(all_scores())]


Door = Callable[[list[Any], list[str]], list[Any]]
every_door = pytest.mark.parametrize("door", [trl_scores, trl_chat_scores, verl_scores])


def scores_by_form(door: Door, samples: list[Sample]) -> dict[str, Counter[Any]]:
    """How often each form got which score."""
    asked = [(form, sample.truth, text) for sample in samples for form, text in sample.responses().items()]
    found: dict[str, Counter[Any]] = {}
    scores = door([truth for _, truth, _ in asked], [text for _, _, text in asked])
    for (form, _, _), score in zip(asked, scores, strict=True):
        found.setdefault(form, Counter())[score] += 1
    return found


def human_eval(path: Path) -> list[Sample]:
    """The reference solutions."""
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [Sample(row, row["entry_point"], row["canonical_solution"], row["prompt"]) for row in rows]


@every_door
def test_human_evals_references_score_1_in_every_form(
    at_service: str, published_file: Callable[[str], Path], door: Door
) -> None:
    samples = human_eval(published_file("HumanEval.jsonl.gz"))
    found = scores_by_form(door, samples)
    assert found == {form: Counter({1.0: 164}) for form in [*FORMS, "function alone", "bare body"]}


#: A helper and an import that only the prompt has, and a docstring with a block.
PEAKS = '''from typing import List


def rises(a: int, b: int) -> bool:
    """Whether b is above a."""
    return b > a


def peaks(heights: List[int]) -> List[int]:
    """The places that are above both neighbours.

    ```python
    peaks([1, 3, 2])  # [1]
    ```
    """
'''
PEAKS_TEST = """
def check(candidate):
    assert candidate([1, 3, 2]) == [1]
    assert candidate([]) == []
    assert candidate([1, 2, 1, 5, 0, 7]) == [1, 3]
"""
PEAKS_BODY = """    inner = range(1, len(heights) - 1)
    return [at for at in inner if rises(heights[at - 1], heights[at]) and rises(heights[at + 1], heights[at])]
"""
VOWELS = 'def vowels(text: str) -> int:\n    """Counts the vowels of a text."""\n'
VOWELS_TEST = "\ndef check(candidate):\n    assert candidate('banana') == 3\n    assert candidate('') == 0\n"


def row(prompt: str, function: str, test: str) -> dict[str, str]:
    """A row as HumanEval's are."""
    return {"task_id": function, "prompt": prompt, "entry_point": function, "test": test}


#: Tasks of several shapes with a right program each.
RIGHT = [
    Sample(row(PEAKS, "peaks", PEAKS_TEST), "peaks", PEAKS_BODY, PEAKS),
    Sample(row(VOWELS, "vowels", VOWELS_TEST), "vowels", "    return sum(text.count(v) for v in 'aeiou')\n", VOWELS),
    Sample(
        json.dumps({"inputs": [[[3, 1, 2]], [[]]], "outputs": [6, 0], "fn_name": "total"}),
        "total",
        "def total(numbers):\n    result = 0\n    for number in numbers:\n        result += number\n    return result\n",
    ),
    Sample(
        ["assert swap((1, 'a')) == ('a', 1)", "assert swap((None, [])) == ([], None)"],
        "swap",
        "def swap(pair):\n    first, second = pair\n    return second, first\n",
    ),
    Sample(
        {"inputs": ["3\n1 2 3\n", "1\n9\n"], "outputs": ["14\n", "81\n"]},
        "main",
        "def main():\n    input()\n    print(sum(int(word) ** 2 for word in input().split()))\n\n\nmain()\n",
    ),
]
#: The same tasks with programs that are nearly right.
WRONG = [
    Sample(RIGHT[0].truth, "peaks", PEAKS_BODY.replace("len(heights) - 1", "len(heights) - 2"), PEAKS),
    Sample(RIGHT[1].truth, "vowels", "    return text.count('a')  + text.count('') - 1\n", VOWELS),
    Sample(RIGHT[2].truth, "total", "def total(numbers):\n    return sum(numbers) or None\n"),
    Sample(RIGHT[3].truth, "swap", "def swap(pair):\n    return list(reversed(pair))\n"),
    Sample(
        RIGHT[4].truth, "main", "def main():\n    input()\n    print(sum(map(int, input().split())) ** 2)\n\n\nmain()\n"
    ),
]


@every_door
@pytest.mark.parametrize("samples, score", [(RIGHT, 1.0), (WRONG, 0.0)], ids=["right", "wrong"])
def test_programs_score_what_they_are_worth_in_every_form(
    at_service: str, door: Door, samples: list[Sample], score: float
) -> None:
    every, continued = Counter({score: 5}), Counter({score: 2})
    expected = {form: every for form in FORMS} | {"function alone": continued, "bare body": continued}
    assert scores_by_form(door, samples) == expected


@every_door
def test_a_right_program_that_is_no_answer_scores_0(at_service: str, door: Door) -> None:
    swap = RIGHT[3]
    block = f"```python\n{swap.program}```\n"
    no_answers = [
        "",
        "I do not know.",
        f"<think>\n{block}",
        f"{block}\n<think>\nOr is it otherwise?\n{block}",
        f"<answer>\nI do not know.\n</answer>\n<think>{block}</think>",
        f"<think>\n{block}</think>\n\nI do not know.",
        swap.program.replace("swap", "swop"),
    ]
    assert door([swap.truth] * len(no_answers), no_answers) == [0.0] * len(no_answers)


def test_trl_judges_what_goes_on_from_a_thought_or_a_block_of_the_prompt(at_service: str) -> None:
    swap = RIGHT[3]
    block = f"```python\n{swap.program}```\n"
    behind = "Swap.\n<think>\n"
    chat = [{"role": "user", "content": "Swap."}, {"role": "assistant", "content": "Of course:\n```python\n"}]
    cases: list[tuple[Any, Any, float]] = [
        (behind, f"Is it this?\n{block}</think>\n{block}", 1.0),
        (behind, f"Is it this?\n{block}", 0.0),
        ("Swap.\n```python\n", f"{swap.program}```\nAn example:\n```\nswap((1, 2))\n```\n", 1.0),
        (chat, [{"role": "assistant", "content": f"{swap.program}```\nThat is all.\n"}], 1.0),
        (chat, [{"role": "assistant", "content": "I do not know.\n"}], 0.0),
    ]
    prompts, completions, scores = (list(column) for column in zip(*cases, strict=True))
    truths = [swap.truth] * len(cases)
    assert veriplay.trl.executed(prompts=prompts, completions=completions, ground_truth=truths) == scores


CHAT = "<|im_start|>user\nLike ```python\nx\n```<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    "prompt, query",
    [
        (CHAT, f"{CHAT}y"),
        # Without the query's special tokens, cut, with other spaces, as the words of a chat alone.
        (CHAT, f"<|endoftext|>{CHAT}y"),
        (CHAT, f"{CHAT[20:]}y"),
        (CHAT, f"{CHAT.replace(' ', '  ')}y"),
        ("Like", f"{CHAT}y"),
        ("Q\n", "<s> Q\ny"),
        ("", "y"),
        ("Q", "y"),
    ],
)
def test_the_response_is_what_follows_the_prompt(prompt: str, query: str) -> None:
    assert response_of_query(query, prompt).strip() == "y"


@pytest.mark.parametrize(
    "prompt, response, whole",
    [
        ("<think>\n", "hm</think>x", "<think>\nhm</think>x"),
        ("<think>\n", "<think>hm</think>x", "<think>hm</think>x"),
        ("◁think▷", "x", "◁think▷\nx"),
        ("Think between <think> and </think>.", "x", "x"),
        ("Q\n```python\n", "x\n```", "```python\nx\n```"),
        ("Q\n```python\ndef f():\n", "    x\n```", "```python\n    x\n```"),
        ("Q\n```python\n", "```python\nx\n```", "```python\nx\n```"),
        ("Q\n```python\n1\n```\n", "x", "x"),
        (CHAT.replace("```<", "<"), "x", "x"),
        (f"{CHAT}```python\n", "x", "```python\nx"),
        ("", "x", "x"),
    ],
)
def test_a_response_is_completed_by_what_its_prompt_opened(prompt: str, response: str, whole: str) -> None:
    assert with_opened_frame(prompt, response) == whole


def test_a_chat_goes_on_from_the_reply_at_its_end() -> None:
    user, begun = {"role": "user", "content": "Q"}, {"role": "assistant", "content": [{"type": "text", "text": "A"}]}
    found = [begun_reply(prompt) for prompt in ("Q", [user], [user, begun], [user, begun, user], [], None)]
    assert found == ["Q", "", "A", "", "", ""]
