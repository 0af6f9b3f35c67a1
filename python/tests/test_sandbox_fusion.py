"""The unmodified client `sandbox-fusion` against our service."""

from __future__ import annotations

import asyncio
import base64

import pytest

fusion = pytest.importorskip("sandbox_fusion")

CASES = [{"input": {"stdin": f"{n} 2\n"}, "output": {"stdout": f"{n + 2}\n"}} for n in range(3)]
RIGHT = "So:\n```python\nprint(sum(map(int, input().split())))\n```"
WRONG = "```python\nprint(2)\n```"


@pytest.fixture
def endpoint(service: str) -> str:
    fusion.set_endpoint(service)
    return service


def run(code: str, **fields: object) -> object:
    return fusion.run_code(fusion.RunCodeRequest(code=code, language="python", **fields), max_attempts=1)


def test_programs_end_as_in_the_original(endpoint: str) -> None:
    for code, status, return_code, stdout in [
        ("print('hello')", "Success", 0, "hello\n"),
        ("import sys; sys.exit(3)", "Failed", 3, ""),
        ("1/0", "Failed", 1, ""),
        ("print(", "Failed", 1, ""),
        ("import os; print('x', flush=True); os._exit(0)", "Success", 0, "x\n"),
    ]:
        found = run(code)
        assert found.status == status, code
        assert found.compile_result is None
        assert (found.run_result.status, found.run_result.return_code) == ("Finished", return_code), code
        assert found.run_result.stdout == stdout


def test_a_time_limit_is_kept(endpoint: str) -> None:
    found = run("print('so far', flush=True)\nwhile True: pass", run_timeout=0.2)
    assert found.status == "Failed" and found.run_result.status == "TimeLimitExceeded"
    assert found.run_result.return_code is None and found.run_result.stdout == "so far\n"


def test_files_go_in_and_out(endpoint: str) -> None:
    code = "open('out.txt', 'w').write(open('in.txt').read().upper())"
    files = {"in.txt": base64.b64encode(b"here").decode(), "none": None}
    found = run(code, files=files, fetch_files=["out.txt", "missing"])
    assert found.status == "Success"
    assert {path: base64.b64decode(text) for path, text in found.files.items()} == {"out.txt": b"HERE"}


def test_two_hundred_programs_at_sixty_four_in_flight_are_all_right(endpoint: str) -> None:
    requests = [fusion.RunCodeRequest(code=f"print({at})", language="python") for at in range(200)]
    found = fusion.run_concurrent(fusion.run_code, args=[[request] for request in requests], concurrency=64)
    assert [answer.run_result.stdout for answer in found] == [f"{at}\n" for at in range(200)]


def test_the_asynchronous_client_works_too(endpoint: str) -> None:
    request = fusion.RunCodeRequest(code="print(input())", stdin="hi", language="python")
    assert asyncio.run(fusion.run_code_async(request)).run_result.stdout == "hi\n"


def submit(completion: str, **extra: object) -> object:
    data = {"id": 7, "content": "", "labels": {}, "test": CASES}
    config = fusion.TestConfig(dataset_type="CommonOJDataset", language="python", provided_data=data, extra=dict(extra))
    request = fusion.SubmitRequest(dataset="mine", id=7, completion=completion, config=config)
    return fusion.submit(request, max_attempts=1)


def test_a_completion_is_judged_by_cases_in_the_request(endpoint: str) -> None:
    right, wrong = submit(RIGHT), submit(WRONG, run_all_cases=True)
    assert right.accepted and len(right.tests) == 3 and all(test.passed for test in right.tests)
    assert not wrong.accepted and [test.passed for test in wrong.tests] == [True, False, False]
    assert len(submit(WRONG).tests) == 2
    assert right.extracted_type is None and right.id == 7


@pytest.mark.parametrize(("code", "flag", "accepted"), [("sys.exit(0)", False, True), ("sys.exit(0)", True, False)])
def test_a_program_with_its_tests(endpoint: str, code: str, flag: bool, accepted: bool) -> None:
    data = {"id": 1, "content": "", "labels": {"programming_language": "python"}, "test": {"code": "assert f() == 1"}}
    config = fusion.TestConfig(dataset_type="AutoEvalDataset", provided_data=data, extra={"append_flag": flag})

    def judge(body: str) -> bool:
        completion = f"```python\nimport sys\n{body}\n```"
        request = fusion.SubmitRequest(dataset="d", id="a", completion=completion, config=config)
        return bool(fusion.submit(request, max_attempts=1).accepted)

    assert judge("def f(): return 1") and not judge("def f(): return 2")
    assert judge(code) is accepted


def test_what_is_not_in_the_request_is_refused(endpoint: str) -> None:
    request = fusion.SubmitRequest(
        dataset="humaneval_python", id=1, completion="", config=fusion.TestConfig(language="python")
    )
    with pytest.raises(Exception, match=r"responded with code 400: .*no eval class found for dataset humaneval_python"):
        fusion.submit(request, max_attempts=1)
