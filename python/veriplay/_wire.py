"""The service's native protocol: the bodies of requests, the meaning of answers. No IO."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import UNREADABLE, Fault, Rejected, ServerError, Unmeasured
from .records import Attempt, Limits, Outcome, Task, Verdict, fault_from_json

__all__ = ["Batch", "Conditions", "Request", "raise_for", "read_outcome", "run_body"]

#: Attempts and bytes of one request. Larger batches are sent in several; the service takes 64 MiB.
MOST_ATTEMPTS = 2048
MOST_BYTES = 16 << 20

#: The type of the answer to a digest whose row the service does not have (any more).
UNKNOWN_TASK = "unknown-task"

#: The kind of the fault that a request's own deadline makes.
DEADLINE = "deadline"
#: The faults that another try would meet again.
FINAL = (DEADLINE, UNREADABLE)
#: The kind of the fault of a service that was told to end: another one is asked.
STOPPED = "stopped"

VERIFY = "/v1/verify?stream=1&tasks=1"
RUN = "/v1/run"


@dataclass(frozen=True)
class Conditions:
    """What verdicts depend on besides task and program."""

    limits: Limits = Limits()
    seed: int = 0
    early_stop: bool = False
    """Whether an attempt ends at its first failed check."""
    deadline: float | None = None
    """Seconds after which an attempt that was not judged is a fault. No verdict depends on it."""
    judge: str | Mapping[str, Any] | None = None
    """The judge of tasks whose rows name none: ``tokens``, ``float:rtol=1e-6``, or a mapping with ``judge`` and options, kept as JSON."""

    def __post_init__(self) -> None:
        if isinstance(self.judge, Mapping):
            object.__setattr__(self, "judge", json.dumps(dict(self.judge), sort_keys=True))

    def to_json(self) -> dict[str, Any]:
        """The fields of a request."""
        fields: dict[str, Any] = {"seed": self.seed, "early_stop": self.early_stop}
        if limits := self.limits.to_json():
            fields["limits"] = limits
        if self.deadline is not None:
            fields["deadline_ms"] = max(1, round(self.deadline * 1000))
        if self.judge is not None:
            fields["judge"] = self.judge
        return fields


class Tasks:
    """The digests under which a service keeps rows that it was sent, so that a row travels once."""

    #: Rows below this are sent again: a digest saves nothing.
    LEAST_BYTES = 512
    #: Digests remembered.
    MOST = 65_536

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def wire(self, task: Task) -> str:
        """A task's JSON in a request: its digest, where it was sent before."""
        digest = self._digests.get(task.key)
        return f'{{"digest":"{digest}"}}' if digest else task.wire

    def learn(self, tasks: Sequence[Task], digests: Sequence[str | None]) -> None:
        """Remembers what the service calls these. One that cannot be read has no digest."""
        for task, digest in zip(tasks, digests, strict=False):
            if digest is not None and len(task.wire) >= self.LEAST_BYTES:
                if len(self._digests) >= self.MOST:
                    self._digests.clear()
                self._digests[task.key] = str(digest)

    def forget(self) -> None:
        """The service has lost some: send all again."""
        self._digests.clear()


@dataclass
class Request:
    """A part of a batch, as one request."""

    body: bytes
    tasks: list[Task]
    attempts: list[int]
    """Their indices in the batch."""
    unanswered: int
    """How many of them the answer has not named yet."""


@dataclass
class Batch:
    """Attempts of which some may have their verdict already. A lost answer costs only what it had not said yet."""

    attempts: Sequence[Attempt]
    conditions: Conditions
    known: Tasks = field(default_factory=Tasks)
    fault_retries: int = 1
    """How often an attempt with a fault is sent again."""

    def __post_init__(self) -> None:
        faults = [attempt.task.fault for attempt in self.attempts]
        self.verdicts: list[Verdict | None] = [None if fault is None else Verdict.from_fault(fault) for fault in faults]
        self.unsent = [(index, verdict) for index, verdict in enumerate(self.verdicts) if verdict is not None]
        """Attempts at tasks that cannot be sent, with their verdicts."""
        self._waiting = [index for index, fault in enumerate(faults) if fault is None]
        self._faults: dict[int, int] = {}
        self.sent_digests = False

    def next_request(self) -> Request | None:
        """The next attempts without a verdict, or ``None`` when all have theirs."""
        taken: list[int] = []
        named: dict[str, Task] = {}
        tasks: list[str] = []
        attempts: list[str] = []
        size, digests = 0, False
        for index in self._waiting:
            attempt = self.attempts[index]
            task = named.get(attempt.task.name)
            if task is not None and task != attempt.task:
                continue  # Two tasks of one name cannot be in one request.
            text = attempt_json(attempt)
            wire = "" if task is not None else self.known.wire(attempt.task)
            if taken and (size + len(text) + len(wire) > MOST_BYTES or len(taken) == MOST_ATTEMPTS):
                break
            if task is None:
                named[attempt.task.name] = attempt.task
                tasks.append(wire)
                digests |= wire is not attempt.task.wire
            size += len(text) + len(wire)
            attempts.append(text)
            taken.append(index)
        if not taken:
            return None
        self.sent_digests = digests
        conditions = json.dumps(self.conditions.to_json())[1:-1]
        body = f'{{"tasks":[{",".join(tasks)}],"attempts":[{",".join(attempts)}],{conditions}}}'
        return Request(body.encode(), list(named.values()), taken, len(taken))

    def take(self, request: Request, line: bytes) -> tuple[int, Verdict] | None:
        """Reads a line of the answer: an index of the batch and its final verdict; ``None`` for one that is to be tried again.

        Raises:
            ServerError: the line is none of the protocol's.
        """
        try:
            row = json.loads(line)
            if "tasks" in row:
                self.known.learn(request.tasks, [task["digest"] for task in row["tasks"]])
                return None
            index = request.attempts[row["index"]]
            verdict = Verdict.from_json(row)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ServerError(f"cannot read the service's line `{line[:200]!r}`: {error!r}") from error
        request.unanswered -= 1
        if (
            verdict.fault is not None
            and verdict.fault.kind not in FINAL
            and self._faults.get(index, 0) < self.fault_retries
        ):
            self._faults[index] = self._faults.get(index, 0) + 1
            return None
        self.verdicts[index] = verdict
        return index, verdict

    def end_request(self) -> None:
        """What has its verdict is not sent again."""
        self._waiting = [index for index in self._waiting if self.verdicts[index] is None]


def attempt_json(attempt: Attempt) -> str:
    """An attempt in a request."""
    name = "program" if attempt.whole else "completion"
    return f'{{"task_id":{json.dumps(attempt.task.name)},"{name}":{json.dumps(clean(attempt.text))}}}'


def clean(text: str) -> str:
    """``text`` with lone surrogates replaced, which no UTF-8 has and no parser of JSON takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def run_body(
    program: str,
    stdin: str | bytes = b"",
    files: Mapping[str, bytes] | None = None,
    call: str | None = None,
    arguments: Sequence[Any] = (),
    limits: Limits = Limits(),
    seed: int = 0,
) -> bytes:
    """The request to run one program.

    Raises:
        ValueError: ``stdin`` is not UTF-8.
    """
    text = stdin if isinstance(stdin, str) else stdin.decode()
    fields: dict[str, Any] = {"program": clean(program), "stdin": clean(text), "seed": seed}
    if files:
        coded = ((path, base64.b64encode(content).decode()) for path, content in files.items())
        fields["files"] = {path: {"base64": content} for path, content in coded}
    if call is not None:
        fields["call"] = {"function": call, "arguments": ", ".join(repr(value) for value in arguments)}
    if given := limits.to_json():
        fields["limits"] = given
    return json.dumps(fields).encode()


def read_outcome(body: bytes) -> Outcome:
    """Reads the answer about a run.

    Raises:
        Unmeasured: the program was not run to an end of its own.
        ServerError: the answer is none of the protocol's.
    """
    try:
        row = json.loads(body)
        if row.get("fault") is not None:
            raise Unmeasured(fault_from_json(row["fault"]))
        error = row.get("error")
        return Outcome(
            exit=str(row["exit"]),
            exit_code=row.get("exit_code"),
            stdout=str(row["stdout"]),
            stderr=str(row["stderr"]),
            value=row.get("value"),
            error=(str(error["kind"]), str(error["message"])) if error else None,
            limit=row.get("limit"),
            truncated=bool(row["truncated"]),
            fuel=int(row["fuel"]),
            peak_memory_bytes=int(row["peak_memory_bytes"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ServerError(f"cannot read the service's answer `{body[:200]!r}`: {error!r}") from error


def problem(body: bytes) -> dict[str, Any]:
    """The fields of a ``problem+json`` body; none where it is something else."""
    try:
        fields = json.loads(body)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def is_unknown_task(status: int, body: bytes) -> bool:
    """Whether a digest was sent whose row the service does not have."""
    return 400 <= status < 500 and str(problem(body).get("type", "")).endswith(UNKNOWN_TASK)


def raise_for(status: int, body: bytes) -> None:
    """Raises what an answer that is no success and not to be repeated means.

    Raises:
        Rejected: the request is wrong.
        ServerError: the service has a bug.
    """
    if status < 400:
        return
    fields = problem(body)
    title, detail = str(fields.get("title", "")), str(fields.get("detail", "")) or body[:200].decode(errors="replace")
    if status >= 500:
        raise ServerError(f"the service answered HTTP {status}: {detail or title}")
    where, kind, hint = (str(fields.get(name) or "") for name in ("field", "type", "hint"))
    raise Rejected(status, title or f"HTTP {status}", detail, where, kind, hint)


def raise_final_fault(body: bytes) -> None:
    """Raises where an answer says that trying again is of no use: the service did so itself, or its time is over.

    Raises:
        Unmeasured: it is.
    """
    fields = problem(body)
    for kind in ("host-fault", DEADLINE):
        if str(fields.get("type", "")).endswith(":" + kind):
            raise Unmeasured(Fault(kind.removesuffix("-fault"), str(fields.get("detail", ""))))


def give_up(what: str, status: int | None, tries: int) -> Unmeasured:
    """The error when patience is at its end."""
    kind = "unreachable" if status is None else "overloaded"
    return Unmeasured(Fault(kind, what, tries))
