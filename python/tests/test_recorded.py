"""What the original SandboxFusion server answered, and our service: the same answers, but for listed differences with a reason each."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import recorded

ROOT = Path(__file__).resolve().parents[2]
RUN = "body.run_result"

#: Keys of one side alone, in every answer of a kind: our service adds three to a run, and the original's errors name a page about them.
ONLY_OURS = {"request_id", "fuel", "truncated", "extraction"}
ONLY_THEIRS = {"url"}


def text_in_short(text: str) -> dict[str, Any]:
    return {"characters": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def refused(**detail: Any) -> dict[str, Any]:
    """A run that our service refuses: the status, and the error in place of the result."""
    gone = {f"body.{key}": None for key in ("status", "message", "run_result", "files")}
    return {"status": 422, **gone, "body.detail": [detail]}


def without(place: str, answers: dict[str, Any]) -> dict[str, Any]:
    return {other: answer for other, answer in answers.items() if other != place}


def raised(stderr: str) -> dict[str, Any]:
    """A program that succeeds in the original, and raises here."""
    return {
        "body.status": "Failed",
        f"{RUN}.return_code": 1,
        f"{RUN}.stdout": "",
        f"{RUN}.stderr": f"Traceback (most recent call last):\n{stderr}\n",
    }


#: By behaviour: the row of the table in docs/serving.md that gives the reason, and what our service answers in each place that differs.
DIFFERENCES: dict[str, tuple[str, dict[str, Any]]] = {
    "a signal kills a program": (
        "signals",
        {
            f"{RUN}.return_code": 1,
            f"{RUN}.stderr": 'Traceback (most recent call last):\n  File "…", line 3, in <module>\n    os.kill(os.getpid(), 9)\n'
            "    ^^^^^^^\nAttributeError: module 'os' has no attribute 'kill'\n",
        },
    ),
    "a program exceeds its memory": ("memory limit exceeded", {f"{RUN}.stderr": "MemoryError\n"}),
    "a file without its padding": (
        "`files` with base64 that Python's decoder refuses",
        {
            "body.status": "Success",
            "body.message": "",
            RUN: {"status": "Finished", "return_code": 0, "stdout": "insider\n", "stderr": ""},
        },
    ),
    "a file that is not base64": (
        "`files` with base64 that Python's decoder refuses",
        # The original has no result of it either.
        without(
            RUN, refused(type="value_error", loc=["body", "files", "bad.txt"], msg="Input should be base64", input="A")
        ),
    ),
    "200,000 characters of output": (
        "output over 219,264 characters",
        {f"{RUN}.stdout": text_in_short("x" * 200_000 + "\n")},
    ),
    "300,000 characters of output": (
        "output over 219,264 characters",
        {f"{RUN}.stdout": text_in_short("x" * 300_000 + "\n")},
    ),
    "two million characters of output": (
        "output over 219,264 characters",
        {
            "body.status": "Success",
            f"{RUN}.status": "Finished",
            f"{RUN}.return_code": 0,
            f"{RUN}.stdout": text_in_short("x" * 2_000_000 + "\n"),
        },
    ),
    "a lone surrogate in the program": (
        "a lone surrogate in `code`",
        {
            "status": 422,
            "body.detail": [
                {
                    "type": "json_invalid",
                    "loc": ["body", 46],
                    "msg": "JSON decode error",
                    "input": {},
                    "ctx": {"error": "unexpected end of hex escape at line 1 column 46"},
                }
            ],
        },
    ),
    "an unknown language": (
        "languages",
        {"body.detail.0.msg": "Input should be 'python'", "body.detail.0.ctx.expected": "'python'"},
    ),
    "another language": (
        "languages",
        refused(
            type="literal_error",
            loc=["body", "language"],
            msg="Input should be 'python'",
            input="bash",
            ctx={"expected": "'python'"},
        ),
    ),
    "a body that is not JSON": (
        "errors of a body that is not JSON",
        {"body.detail.0.loc.1": 1, "body.detail.0.ctx.error": "expected value at line 1 column 1"},
    ),
    "a file outside of the folder": (
        "`files` with `../x` or `/x`",
        refused(
            type="value_error",
            loc=["body", "files", "../veriplay-recorded.txt"],
            msg="Input should be a relative path inside the working directory",
            input="../veriplay-recorded.txt",
        ),
    ),
    "a file of the host": (
        "packages, subprocesses, sockets, host files",
        raised(
            "  File \"…\", line 1, in <module>\n    print(open('/etc/passwd').read()[:4])\n          ~~~~^^^^^^^^^^^^^^^\n"
            "FileNotFoundError: [Errno 44] No such file or directory: '/etc/passwd'"
        ),
    ),
    "the host's environment": ("packages, subprocesses, sockets, host files", {f"{RUN}.stdout": "False\n"}),
    "a socket": (
        "packages, subprocesses, sockets, host files",
        raised(
            "  File \"…\", line 2, in <module>\n    socket.socket().bind(('127.0.0.1', 0))\n    ~~~~~~~~~~~~~^^\n"
            '  File "…", line 237, in __init__\nOSError: [Errno 58] Not supported'
        ),
    ),
    "a subprocess": (
        "packages, subprocesses, sockets, host files",
        raised(
            "  File \"…\", line 2, in <module>\n    print(subprocess.run(['echo', 'hello'], capture_output=True).stdout)\n"
            "          ~~~~~~~~~~~~~~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            '  File "…", line 669, in run\n  File "…", line 1002, in __init__\nOSError: [Errno 58] wasi does not support processes.'
        ),
    ),
}

BEHAVIOURS = {behaviour["name"]: behaviour for behaviour in recorded.load()["behaviours"]}


def own_differences(service: str, behaviour: dict[str, Any]) -> dict[str, Any]:
    """Our answer in each place in which it differs, without the keys that only one side has everywhere."""
    found = {}
    for path, (theirs, ours) in recorded.differences(
        behaviour["answer"], recorded.ask(service, behaviour["request"])
    ).items():
        key = path.rpartition(".")[2]
        if not (key in ONLY_OURS and theirs is None) and not (key in ONLY_THEIRS and ours is None):
            found[path] = ours
    return found


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_the_service_answers_as_the_original_but_for_the_list(service: str, name: str) -> None:
    _, listed = DIFFERENCES.get(name, ("", {}))
    assert own_differences(service, BEHAVIOURS[name]) == listed


def test_each_listed_difference_has_a_behaviour_and_a_reason() -> None:
    assert len(BEHAVIOURS) == len(recorded.load()["behaviours"]) >= 28
    assert set(DIFFERENCES) <= set(BEHAVIOURS)
    page = (ROOT / "docs" / "serving.md").read_text()
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| ") and line.count("|") == 5]
    reasons = {cells[0].strip(): cells[3].strip() for cells in rows}
    for name, (row, _) in DIFFERENCES.items():
        assert reasons.get(row), f"`{name}`: docs/serving.md gives no reason for `{row}`"


def test_the_keys_of_one_side_alone_are_there(service: str) -> None:
    found: set[str] = set()
    for name in ("a program prints", "submit: cases that pass"):
        found |= set(recorded.ask(service, BEHAVIOURS[name]["request"])["body"])
        assert not ONLY_OURS & set(BEHAVIOURS[name]["answer"]["body"])
    assert found >= ONLY_OURS
    assert set(BEHAVIOURS["a missing field"]["answer"]["body"]["detail"][0]) >= ONLY_THEIRS
