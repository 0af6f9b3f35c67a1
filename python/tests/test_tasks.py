"""From ground truths to tasks, and tasks to attempts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from veriplay import Attempt, Task, task_from
from veriplay._reward import find_column, text_of
from veriplay.tasks import pair

APPS = {"inputs": ["1\n"], "outputs": ["2\n"]}
LCB = [{"input": "1\n", "output": "2\n", "testtype": "stdin", "metadata": {"func_name": None}}]


@pytest.mark.parametrize(
    ("truth", "format"),
    [
        ({"format": "mbpp", "row": {"test_list": ["assert f(1) == 2"]}}, "mbpp"),
        (APPS, "apps"),
        ({**APPS, "fn_name": "f"}, "apps"),
        ({"input_output": json.dumps(APPS), "problem_id": 7}, "apps"),
        ({"test": "def check(candidate): pass", "entry_point": "f", "prompt": "def f():\n"}, "humaneval"),
        ({"test_list": ["assert f(1) == 2"], "code": "def f(x): ..."}, "mbpp"),
        ({"question_id": "1", "public_test_cases": "[]", "private_test_cases": "[]"}, "livecodebench"),
        (LCB, "livecodebench"),
        ({"test_cases": [{"input": "1\n", "output": "2\n", "type": "stdin_stdout"}]}, "apps"),
        ({"schema_version": 1, "problem": {"task_id": "a"}}, "veriplay"),
        (["assert f(1) == 2"], "veriplay"),
    ],
)
def test_known_shapes(truth: Any, format: str) -> None:
    task = task_from(truth)
    assert task.format == format
    assert task_from(json.dumps(truth)).key == task.key


def test_tests_travel_as_the_text_that_the_format_has() -> None:
    row = task_from({**APPS, "fn_name": "f", "starter_code": "class Solution:"}).row
    assert json.loads(row["input_output"]) == {**APPS, "fn_name": "f"}
    assert row["starter_code"] == "class Solution:" and "task_id" not in row


def test_numbers_without_a_spelling_in_json_travel_inside_a_text() -> None:
    assert "NaN" in task_from({"inputs": [[float("nan")]], "outputs": [10**30], "fn_name": "f"}).wire


def test_a_row_keeps_its_name_and_gets_one_where_it_has_none() -> None:
    assert task_from({"task_id": "HumanEval/0", "entry_point": "f"}).name == "HumanEval/0"
    assert task_from({"input_output": json.dumps(APPS), "problem_id": 7}).name == "7"
    unnamed = task_from(LCB)
    assert json.loads(unnamed.wire)["row"]["question_id"] == unnamed.name == unnamed.key[:16]


def test_the_function_of_a_list_of_tests_is_found() -> None:
    tests = [{**LCB[0], "metadata": json.dumps({"func_name": "go"})}]
    assert json.loads(task_from(tests).row["metadata"]) == {"func_name": "go"}
    calls = {"test_cases": [{"input": [1], "output": 2, "fn_name": "f"}]}
    assert json.loads(task_from(calls).row["input_output"])["fn_name"] == "f"


def test_arrays_are_lists() -> None:
    class Array:
        def tolist(self) -> list[str]:
            return ["1\n"]

    assert task_from({"inputs": Array(), "outputs": ["2\n"]}) == task_from(APPS)


def test_a_format_can_be_named() -> None:
    assert task_from({"id": "sample_0", "code": "…", "input": "1", "output": "2"}, "cruxeval").format == "cruxeval"


@pytest.mark.parametrize(
    ("truth", "match"),
    [
        ("4", "no known ground truth: int"),
        ("x = 1", "is no JSON"),
        ({"question": "why"}, r"with the keys \['question'\]"),
        ([], "no known ground truth"),
        (None, "no known ground truth"),
        ([{**LCB[0], "metadata": {"func_name": name}} for name in ("f", "g")], "several functions"),
    ],
)
def test_other_shapes_are_told(truth: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        task_from(truth)


def test_rollouts_of_one_text_share_a_task() -> None:
    text = json.dumps(APPS)
    assert task_from(text) is task_from(text)


def test_attempts_are_paired_with_tasks() -> None:
    first, second = Task.stdio([("", "1\n")]), Task.stdio([("", "2\n")])
    assert pair(first, ["a", {"program": "b"}]) == [Attempt(first, "a"), Attempt.program(first, "b")]
    assert [attempt.task for attempt in pair([first, second], ["a", "b"])] == [first, second]
    named = {"one": first, "two": json.dumps(APPS)}
    rows = [{"task_id": "two", "completion": "x"}, {"task_id": "one", "program": "y"}]
    assert [attempt.task.format for attempt in pair(named, rows)] == ["apps", "veriplay"]


@pytest.mark.parametrize(
    ("tasks", "attempts", "match"),
    [
        ([json.dumps(APPS)], ["a", "b"], "there are 1 tasks for 2 attempts"),
        ({"one": json.dumps(APPS)}, [{"task_id": "two", "completion": ""}], "names the task `two`"),
        (json.dumps(APPS), [5], "is no attempt"),
    ],
)
def test_what_does_not_fit_is_told(tasks: Any, attempts: list[Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        pair(tasks, attempts)


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("x", "x"),
        ([{"role": "user", "content": "q"}, {"role": "assistant", "content": "x"}], "x"),
        ({"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "image"}]}, "x"),
        ([{"role": "assistant", "content": None}], ""),
        ([], ""),
    ],
)
def test_the_text_of_a_completion(completion: Any, text: str) -> None:
    assert text_of(completion) == text


def test_the_column_with_tasks_is_found_or_named() -> None:
    assert find_column({"answer": ["4"], "ground_truth": ["…"]}, None) == "ground_truth"
    assert find_column({"checks": ["…"]}, "checks") == "checks"
    with pytest.raises(KeyError, match="found `a`; hint: name it with `column=`"):
        find_column({"a": 1}, None)
