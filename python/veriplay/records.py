"""Tasks, attempts, verdicts and outcomes, as Python sees them.

They mirror what ``veriplay verify`` and ``veriplay run`` read and write, and are immutable.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .errors import UNREADABLE, Fault, Unmeasured

__all__ = ["Attempt", "Limits", "Outcome", "Task", "Verdict"]

Json = Mapping[str, Any]

#: The rules of what nothing in an attempt's text makes unjudgeable: its task has no usable reference program, the row is no attempt, or there
#: is no such task.
_UNMEASURED_RULES = ("reference", "invalid_row", "unknown_task")


@dataclass(frozen=True)
class Limits:
    """What one job may use. What is ``None`` is the task's own limit, or the service's."""

    fuel: int | None = None
    """Units of work. The same program uses the same fuel on every machine."""
    memory_bytes: int | None = None
    """Memory, the interpreter's own share included."""
    seconds: float | None = None
    """Seconds of native Python in place of ``fuel``: 6 * 10**10 units each."""
    output_bytes: int | None = None
    """Bytes of standard output and of the values, each."""
    file_bytes: int | None = None
    """Bytes that the program may keep in files."""

    def to_json(self) -> dict[str, float]:
        """The limits that are set."""
        return {name: value for name, value in vars(self).items() if value is not None}


#: The keys under which the rows of a format have their name, where it is not `task_id` alone.
_NAMES = {
    "apps": ("task_id", "problem_id", "id", "question_id"),
    "auto": ("task_id", "problem_id", "question_id", "id"),
    "code_contests": ("task_id", "name", "id"),
    "codeforces": ("task_id", "id"),
    "cruxeval": ("id",),
    "livecodebench": ("question_id",),
}


@dataclass(frozen=True, eq=False)
class Task:
    """What attempts are judged by: a row of a public set as it is published, and the name of its format.

    Two tasks are equal when format and row are. Formats are those of ``veriplay verify --format``: ``humaneval``, ``mbpp``, ``evalplus``,
    ``livecodebench``, ``cruxeval``, ``apps``, ``code_contests``, ``codeforces``, ``kodcode``, ``multipl_e``,
    ``humaneval_x``, ``cat``, ``veriplay`` for our own, and ``auto`` for a row whose shape says what it is.
    """

    format: str
    row: Any
    """A mapping, or its JSON text; in ``auto`` any JSON."""
    fault: Fault | None = None
    """Why the row cannot be sent: the verdict of each attempt has it."""

    @classmethod
    def stdio(cls, cases: Iterable[tuple[str, str]], *, judge: str = "lines", limits: Json | None = None) -> Task:
        """Programs that read the first text of a case and must write the second, each in a fresh state.

        Judges: ``lines`` (the same lines), ``tokens`` (the same words), ``yes_no`` (Yes and No in any case), ``float`` (within 1e-6),
        ``livecodebench`` (numbers may be spelled otherwise), ``nemo_gym`` (all three), ``exact``.
        """
        rows = [{"stdin": stdin, "stdout": stdout} for stdin, stdout in cases]
        return cls._own({"stdio": {"cases": rows, "comparison": {"judge": judge}}}, limits)

    @classmethod
    def calls(
        cls,
        function: str,
        cases: Iterable[tuple[Sequence[Any], Any]],
        *,
        judge: str = "exact",
        fresh: bool = False,
        limits: Json | None = None,
    ) -> Task:
        """Calls of ``function`` with the arguments of each case, which must return its value. Values are plain Python values.

        With ``fresh`` each call gets a state of its own. ``function`` may be ``Class.method``.
        """
        rows = [{"input": [repr(value) for value in inputs], "expected": repr(expected)} for inputs, expected in cases]
        calls = {"function": function, "cases": rows, "fresh": fresh, "comparison": {"judge": judge}}
        return cls._own({"calls": calls}, limits)

    @classmethod
    def asserts(cls, tests: Iterable[str], *, setup: str = "", limits: Json | None = None) -> Task:
        """Lines of test code such as ``assert add(1, 2) == 3``, as MBPP has them. They run apart from the program they test."""
        return cls._own({"tests": {"setup": setup, "style": {"asserts": list(tests)}}}, limits)

    @classmethod
    def _own(cls, checks: Json, limits: Json | None) -> Task:
        content: dict[str, Any] = {"checks": checks}
        if limits is not None:
            content["limits"] = dict(limits)
        name = _digest(content)[:16]
        return cls("veriplay", {"schema_version": 1, "problem": {"task_id": name, **content}})

    @cached_property
    def key(self) -> str:
        """A digest of format and row."""
        return _digest([self.format, self.row])

    @cached_property
    def name(self) -> str:
        """The task's name in requests and verdicts: the one in its row, else one made of its content."""
        row = self.row
        if self.format == "veriplay" and isinstance(row, Mapping):
            row = row.get("problem")
        for key in _NAMES.get(self.format, ("task_id",)) if isinstance(row, Mapping) else ():
            if isinstance(name := row.get(key), (str, int)):
                return str(name)
        return self.key[:16]

    @cached_property
    def wire(self) -> str:
        """The task's JSON in a request."""
        return json.dumps({"format": self.format, "row": self.row, "task_id": self.name}, separators=(",", ":"))

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Task) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Attempt:
    """A text to judge by a task."""

    task: Task
    text: str
    """What a model wrote. The service finds the program in it, whatever stands around it."""
    whole: bool = False
    """Whether ``text`` is the program, to be taken as it is."""

    @classmethod
    def program(cls, task: Task, source: str) -> Attempt:
        """A program that is judged as it is."""
        return cls(task, source, whole=True)


@dataclass(frozen=True)
class Verdict:
    """The judgement of one attempt, or the fault that prevented it."""

    status: str | None
    """A word such as ``accepted``, ``wrong_answer``, ``runtime_error`` or ``fuel_exceeded``; ``None`` when there was a fault."""
    passed: int = 0
    total: int = 0
    fuel: int = 0
    evidence: Json = field(default_factory=dict)
    """What the judgement rests on: the jobs, the rule that decided, the first difference."""
    judged: str = ""
    """Digest of all that the verdict depends on: attempts with the same digest have the same verdict."""
    fault: Fault | None = None

    @property
    def accepted(self) -> bool:
        """Whether the attempt is right."""
        return self.status == "accepted"

    @property
    def measured(self) -> bool:
        """Whether the attempt was judged: no fault of the service, and no task that cannot judge it."""
        if self.fault is not None or self.status in (None, "dropped"):
            return False
        # Any other unjudgeable attempt counts as not accepted: its own text may have made it so.
        return self.status != "unjudgeable" or self.evidence.get("rule") not in _UNMEASURED_RULES

    @property
    def reward(self) -> float | None:
        """1.0 for an accepted attempt, 0.0 for any other, ``None`` for one that was not measured."""
        return float(self.accepted) if self.measured else None

    @property
    def fraction(self) -> float | None:
        """The part of the checks that passed; ``None`` where nothing was measured."""
        if not self.measured:
            return None
        return self.passed / self.total if self.total else float(self.accepted)

    def within(self, place: str) -> Verdict:
        """This verdict, whose task stands in the field ``place`` of the user's row: a fault names it."""
        return self if self.fault is None else replace(self, fault=self.fault.within(place))

    @property
    def readable(self) -> bool:
        """Whether the task could be read."""
        return self.fault is None or self.fault.kind != UNREADABLE

    def require(self) -> Verdict:
        """This verdict, where it is one.

        Raises:
            Unmeasured: it has a fault, or its task cannot judge it.
        """
        if self.fault is not None:
            raise Unmeasured(self.fault)
        if not self.measured:
            raise Unmeasured(Fault(str(self.status), str(self.evidence.get("detail", ""))))
        return self

    @classmethod
    def from_fault(cls, fault: Fault) -> Verdict:
        """No verdict, because of ``fault``."""
        return cls(status=None, fault=fault)

    @classmethod
    def from_json(cls, row: Json) -> Verdict:
        """Reads a row of the service."""
        if row.get("fault") is not None:
            return cls.from_fault(fault_from_json(row["fault"]))
        evidence = row.get("evidence") or {}
        if row["status"] == "dropped":
            return cls.from_fault(Fault("dropped", str(evidence.get("detail", ""))))
        return cls(
            status=str(row["status"]),
            passed=int(row["passed"]),
            total=int(row["total"]),
            fuel=int(row["fuel"]),
            evidence=evidence,
            judged=str(row.get("judged", "")),
        )


def fault_from_json(fault: Json) -> Fault:
    """Reads a fault of the service."""
    field = str(fault.get("field") or "")
    return Fault(str(fault["kind"]), str(fault["message"]), int(fault.get("retried", 0)), field)


@dataclass(frozen=True)
class Outcome:
    """What one run of a program did. It is a fact, not a judgement."""

    exit: str
    """``returned``, ``raised``, ``compile_error``, ``missing_entry``, ``trapped``, ``fuel_exhausted``, ``memory_exceeded`` …"""
    stdout: str
    stderr: str
    exit_code: int | None = None
    """The status with which a process of CPython's would have ended; ``None`` where a limit stopped it."""
    value: str | None = None
    """What the called function returned, as Python text; ``None`` for a script."""
    error: tuple[str, str] | None = None
    """Type and message of the exception."""
    limit: str | None = None
    """The limit that stopped it, such as ``file_bytes``; ``None`` where none did."""
    truncated: bool = False
    """Whether ``stdout`` or ``stderr`` was cut."""
    fuel: int = 0
    peak_memory_bytes: int = 0
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The files that were asked for and exist at the end."""

    @property
    def ok(self) -> bool:
        """Whether the program ran to its end."""
        return self.exit == "returned"
