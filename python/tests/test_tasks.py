"""From ground truths to tasks, and tasks to attempts."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from veriplay import Attempt, Fault, Task, Verdict, task_from
from veriplay._reward import find_column, text_of
from veriplay._wire import Batch, Conditions
from veriplay.tasks import pair

APPS = {"inputs": ["1\n"], "outputs": ["2\n"]}
LCB = [{"input": "1\n", "output": "2\n", "testtype": "stdin", "metadata": {"func_name": None}}]


def test_a_truth_travels_as_it_is() -> None:
    for truth in (APPS, LCB, ["assert f(1) == 2"], {"question": "why"}, None, 4, "no JSON", json.dumps(APPS)):
        sent = json.loads(task_from(truth).wire)
        assert (sent["format"], sent["row"], sent["task_id"]) == ("auto", truth, task_from(truth).name)
        assert task_from(truth).fault is None


def test_numbers_without_a_spelling_in_json_travel_too() -> None:
    assert "NaN" in task_from({"inputs": [[float("nan")]], "outputs": [10**30], "fn_name": "f"}).wire


def test_a_row_keeps_its_name_and_gets_one_where_it_has_none() -> None:
    assert task_from({"task_id": "HumanEval/0", "entry_point": "f"}).name == "HumanEval/0"
    assert task_from({"input_output": json.dumps(APPS), "problem_id": 7}).name == "7"
    unnamed = task_from(LCB)
    assert unnamed.name == unnamed.key[:16] == task_from(json.loads(json.dumps(LCB))).name
    assert unnamed.name != task_from(APPS).name


@pytest.mark.parametrize("truth", [{"inputs": {1, 2}}, [object()], b"\xff", math])
def test_what_no_json_holds_is_the_fault_of_its_own_attempts(truth: Any) -> None:
    fault = task_from(truth).fault
    assert fault is not None and fault.kind == "unreadable_task"
    assert "cannot be sent" in fault.message and "hint: give JSON text" in fault.message
    batch = Batch(pair([truth, APPS], ["a", "b"]), Conditions())
    ((index, verdict),) = batch.unsent
    assert (index, verdict.fault, verdict.measured) == (0, fault, False)
    request = batch.next_request()
    assert request is not None and request.attempts == [1]


def test_a_fault_names_the_field_of_the_users_row() -> None:
    fault = Fault("unreadable_task", "is missing", field="inputs[3]")
    assert str(fault.within("ground_truth")) == "unreadable_task: `ground_truth.inputs[3]`: is missing"
    assert str(Fault("unreadable_task", "no JSON").within("label")) == "unreadable_task: `label`: no JSON"
    assert Fault("host", "gone").within("label") == Fault("host", "gone")
    assert not Verdict.from_fault(fault).readable and Verdict.from_fault(Fault("host", "gone")).readable


def test_arrays_are_lists() -> None:
    class Array:
        def tolist(self) -> list[str]:
            return ["1\n"]

    assert task_from({"inputs": Array(), "outputs": ["2\n"]}) == task_from(APPS)


def test_a_format_can_be_named() -> None:
    assert task_from({"id": "sample_0", "code": "…", "input": "1", "output": "2"}, "cruxeval").format == "cruxeval"


def test_rollouts_of_one_text_share_a_task() -> None:
    text = json.dumps(APPS)
    assert task_from(text) is task_from(text)


def test_attempts_are_paired_with_tasks() -> None:
    first, second = Task.stdio([("", "1\n")]), Task.stdio([("", "2\n")])
    assert pair(first, ["a", {"program": "b"}]) == [Attempt(first, "a"), Attempt.program(first, "b")]
    assert [attempt.task for attempt in pair([first, second], ["a", "b"])] == [first, second]
    named = {"one": first, "two": json.dumps(APPS)}
    rows = [{"task_id": "two", "completion": "x"}, {"task_id": "one", "program": "y"}]
    assert [attempt.task.format for attempt in pair(named, rows)] == ["auto", "veriplay"]


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
