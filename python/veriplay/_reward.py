"""What the functions for trainers share: texts of completions, credit, and the columns that hold tasks."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .errors import Unmeasured
from .records import Verdict

__all__ = ["COLUMNS", "Credit", "Judge", "OnFault", "credit_of", "default_on_fault", "find_column", "text_of"]

#: ``accepted``: 1 or 0. ``fraction``: the part of the checks that passed.
Credit = Literal["accepted", "fraction"]

#: What becomes of an attempt without a verdict, where the framework has no word for it: an exception, or a reward of 0 that is marked.
OnFault = Literal["raise", "zero"]

#: The judge of tasks whose rows name none: a name, a name with options (``float:rtol=1e-6,atol=1e-9``), or a mapping with ``judge`` and options.
Judge = str | Mapping[str, Any] | None

#: Names under which data sets carry what a completion is judged by, the more telling first.
COLUMNS = ("task", "ground_truth", "verification_info", "input_output", "tests", "test_list", "label", "answer")


#: Reasons that are logged, of all kinds together.
MOST_REPORTED = 100

_LOG = logging.getLogger("veriplay")
_REPORTED: set[str] = set()


def text_of(completion: Any) -> str:
    """The text of a completion: a string, or messages whose last one by the assistant counts."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping):
        completion = [completion]
    if isinstance(completion, Sequence):
        for message in reversed(completion):
            if isinstance(message, Mapping) and message.get("role", "assistant") == "assistant":
                return _content(message.get("content"))
        return ""
    raise TypeError(f"a completion of type `{type(completion).__name__}` is neither a text nor a list of messages")


def _content(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = (part.get("text", "") for part in content if isinstance(part, Mapping))
    return "".join(text for text in parts if isinstance(text, str))


def find_column(columns: Mapping[str, Any], wanted: str | None) -> str:
    """The name of the column with the tasks.

    Raises:
        KeyError: there is none.
    """
    names = [wanted] if wanted is not None else COLUMNS
    for name in names:
        if columns.get(name) is not None:
            return name
    found = ", ".join(f"`{name}`" for name in sorted(columns)) or "none"
    looked = ", ".join(f"`{name}`" for name in names)
    raise KeyError(f"no column with tasks: looked for {looked}, found {found}; hint: name it with `column=`")


def report_unreadable(verdicts: Sequence[Verdict]) -> None:
    """Logs why tasks could not be read, each reason once: their samples are left out, and nobody would see why."""
    for verdict in verdicts:
        text = str(verdict.fault)
        if not verdict.readable and text not in _REPORTED and len(_REPORTED) < MOST_REPORTED:
            _REPORTED.add(text)
            _LOG.warning("a sample is not measured: %s", text)


def credit_of(verdict: Verdict, credit: Credit) -> float | None:
    """The reward of a verdict; ``None`` where nothing was measured."""
    if credit not in ("accepted", "fraction"):
        raise ValueError(f"`credit` is `{credit}`; hint: write `accepted` or `fraction`")
    return verdict.fraction if credit == "fraction" else verdict.reward


def credit_or_fault(verdict: Verdict, credit: Credit, on_fault: OnFault) -> float:
    """The reward of a verdict, for frameworks that want a number always.

    Raises:
        Unmeasured: there is no verdict, and ``on_fault`` is not ``zero``.
    """
    if on_fault not in ("raise", "zero"):
        raise ValueError(f"`on_fault` is `{on_fault}`; hint: write `raise` or `zero`")
    found = credit_of(verdict, credit)
    if found is not None:
        return found
    if on_fault == "raise":
        verdict.require()
    return 0.0


def default_on_fault() -> OnFault:
    """``VERIPLAY_ON_FAULT``, for frameworks that pass no settings to a reward function.

    Raises:
        ValueError: it is neither ``raise`` nor ``zero``.
    """
    word = os.environ.get("VERIPLAY_ON_FAULT", "raise")
    if word == "raise":
        return "raise"
    if word == "zero":
        return "zero"
    raise ValueError(f"`VERIPLAY_ON_FAULT` is `{word}`; hint: write `raise` or `zero`")


def default_judge() -> Judge:
    """``VERIPLAY_JUDGE``, for frameworks that pass no settings to a reward function."""
    return os.environ.get("VERIPLAY_JUDGE") or None


def check_measured(verdicts: Sequence[Verdict]) -> None:
    """Raises for the first verdict that is none.

    Raises:
        Unmeasured: an attempt was not measured.
    """
    for verdict in verdicts:
        verdict.require()


__all__ += ["Unmeasured", "check_measured", "credit_or_fault", "default_judge", "report_unreadable"]
