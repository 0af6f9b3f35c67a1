"""From what data sets carry beside a prompt (a "ground truth") to the task that attempts are judged by.

Recognised, as an object or as its JSON text:

=============================================================== ==============================================
``{"format": …, "row": …}``                                      any format of ``veriplay verify``
``{"inputs": […], "outputs": […], "fn_name"?: …}``               APPS, TACO, CodeContests as verl has them
``{"input_output": …}``                                          rows of APPS and TACO
``{"test": …, "entry_point": …, "prompt": …}``                   HumanEval
``{"test_list": […]}``                                           MBPP
``{"public_test_cases": …, "private_test_cases": …}``            LiveCodeBench
``[{"input": …, "output": …, "testtype": …}]``                   LiveCodeBench's tests alone, as SkyRL has them
``{"test_cases": [{"input": …, "output": …, "fn_name"?: …}]}``   ``verification_info`` of open-r1
``{"schema_version": …, "problem": …}``                          our own
``["assert …", …]``                                              lines of test code
=============================================================== ==============================================
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .records import Attempt, Task

__all__ = ["pair", "task_from"]

#: Tasks that are kept, so that the rollouts of one prompt share one.
REMEMBERED = 512

#: A key that only rows of one format have.
FORMAT_OF_KEY = {
    "input_output": "apps",
    "entry_point": "humaneval",
    "test_list": "mbpp",
    "private_test_cases": "livecodebench",
    "public_test_cases": "livecodebench",
    "problem": "veriplay",
}


def task_from(truth: Any, format: str | None = None) -> Task:
    """The task in a ground truth. ``format`` names the format of the row where its shape does not say it.

    Raises:
        ValueError: the shape is unknown.
    """
    if isinstance(truth, Task):
        return truth
    if isinstance(truth, (str, bytes)):
        return _from_text(truth if isinstance(truth, str) else truth.decode(), format)
    return _from_object(_plain(truth), format)


def pair(tasks: Any, attempts: Iterable[Any]) -> list[Attempt]:
    """The attempts with their tasks.

    ``tasks`` is one task for all attempts, a list with one for each, or a mapping from names to tasks. A task is a :class:`Task` or a ground
    truth. An attempt is a text, an :class:`Attempt`, or a row ``{"task_id", "completion"}`` (or ``"program"``) as ``veriplay verify`` reads
    them, whose name is looked up in the mapping.

    Raises:
        ValueError: they do not fit together.
    """
    attempts = list(attempts)
    if isinstance(tasks, (Task, str, bytes)):
        task = task_from(tasks)
        return [_attempt(task, attempt) for attempt in attempts]
    if isinstance(tasks, Mapping):
        named = {name: task_from(truth) for name, truth in tasks.items()}
        return [_attempt(_look_up(named, attempt), attempt) for attempt in attempts]
    tasks = list(tasks)
    if len(tasks) != len(attempts):
        hint = "give one task, one for each attempt, or a mapping from names"
        raise ValueError(f"there are {len(tasks)} tasks for {len(attempts)} attempts; hint: {hint}")
    return [_attempt(task_from(truth), attempt) for truth, attempt in zip(tasks, attempts, strict=True)]


def _look_up(tasks: Mapping[str, Task], attempt: Any) -> Task:
    if isinstance(attempt, Attempt):
        return attempt.task
    name = attempt.get("task_id") if isinstance(attempt, Mapping) else None
    if not isinstance(name, str) or name not in tasks:
        raise ValueError(f"an attempt names the task `{name}`, which is not among the {len(tasks)} that were given")
    return tasks[name]


def _attempt(task: Task, attempt: Any) -> Attempt:
    if isinstance(attempt, Attempt):
        return attempt
    if isinstance(attempt, str):
        return Attempt(task, attempt)
    if isinstance(attempt, Mapping) and isinstance(attempt.get("completion"), str):
        return Attempt(task, attempt["completion"])
    if isinstance(attempt, Mapping) and isinstance(attempt.get("program"), str):
        return Attempt.program(task, attempt["program"])
    raise ValueError(
        f"`{_shortened(repr(attempt))}` is no attempt; hint: give a text, or a row with `completion` or `program`"
    )


@functools.lru_cache(maxsize=REMEMBERED)
def _from_text(text: str, format: str | None) -> Task:
    try:
        truth = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"the ground truth `{_shortened(text)}` is no JSON: {error}") from error
    return _from_object(truth, format)


def _from_object(truth: Any, format: str | None) -> Task:
    if isinstance(truth, Mapping):
        return _from_mapping(truth, format)
    if isinstance(truth, Sequence) and not isinstance(truth, (str, bytes)) and truth:
        if all(isinstance(item, str) for item in truth):
            return Task.asserts(truth)
        if all(isinstance(item, Mapping) and {"input", "output"} <= item.keys() for item in truth):
            return _test_list(truth)
    raise _unknown(truth)


def _from_mapping(truth: Mapping[str, Any], format: str | None) -> Task:
    if format is not None:
        return Task(format, truth)
    if {"format", "row"} <= truth.keys() and isinstance(truth["format"], str):
        return Task(truth["format"], truth["row"])
    if {"inputs", "outputs"} <= truth.keys():
        tests = {name: truth[name] for name in ("inputs", "outputs", "fn_name") if truth.get(name) is not None}
        row = {"input_output": json.dumps(tests)}
        row.update({name: truth[name] for name in ("starter_code",) if name in truth})
        return Task("apps", row)
    if isinstance(truth.get("test_cases"), Sequence):
        return _test_list(truth["test_cases"])
    for key, name in FORMAT_OF_KEY.items():
        if key in truth:
            return Task(name, truth)
    raise _unknown(truth)


def _test_list(tests: Sequence[Mapping[str, Any]]) -> Task:
    """A list of tests, each of which may name a function."""
    names = {_function(test) for test in tests}
    if len(names) > 1:
        raise ValueError(f"tests of one task name several functions: {sorted(str(name) for name in names)}")
    name = names.pop()
    if "testtype" in tests[0]:
        kept = [{key: test[key] for key in ("input", "output", "testtype")} for test in tests]
        row = {
            "public_test_cases": "[]",
            "private_test_cases": json.dumps(kept),
            "metadata": json.dumps({"func_name": name} if name else {}),
        }
        return Task("livecodebench", row)
    cases = {"inputs": [test["input"] for test in tests], "outputs": [test["output"] for test in tests]}
    return _from_mapping(cases | ({"fn_name": name} if name else {}), None)


def _function(test: Mapping[str, Any]) -> str | None:
    metadata = test.get("metadata")
    if isinstance(metadata, str):
        metadata = json.loads(metadata) if metadata else None
    name = test.get("fn_name") or (metadata.get("func_name") if isinstance(metadata, Mapping) else None)
    return name if isinstance(name, str) and name else None


def _plain(value: Any) -> Any:
    """Arrays (of numpy, say) as lists, at every depth."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _unknown(truth: Any) -> ValueError:
    keys = f"with the keys {sorted(map(str, truth))}" if isinstance(truth, Mapping) else f"`{_shortened(repr(truth))}`"
    return ValueError(
        f"no known ground truth: {type(truth).__name__} {keys}; "
        'hint: give {"inputs": […], "outputs": […]}, {"format": …, "row": …}, or name the format'
    )


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"
