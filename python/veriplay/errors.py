"""What can go wrong, apart from a wrong program: that is a verdict, not an error."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = [
    "Fault",
    "GameError",
    "LocalServerError",
    "PromptTooLong",
    "Rejected",
    "ServerError",
    "Unmeasured",
    "VeriplayError",
]

#: The kind of the fault of a task that cannot be read: sending it again is of no use.
UNREADABLE = "unreadable_task"


@dataclass(frozen=True)
class Fault:
    """Why an attempt has no verdict. It says nothing about the attempt: it is neither right nor wrong."""

    kind: str
    """A word such as ``host``, ``deadline``, ``unreadable_task``, ``unreachable`` or ``overloaded``."""
    message: str
    """The same for people."""
    retried: int = 0
    """How often the service had tried before it gave up."""
    field: str = ""
    """The field of the task's row, where the row cannot be read."""

    def __str__(self) -> str:
        tried = f" (tried {self.retried + 1} times)" if self.retried else ""
        where = f"`{self.field}`: " if self.field else ""
        return f"{self.kind}: {where}{self.message}{tried}"

    def within(self, place: str) -> Fault:
        """The same fault, of a row that stands in the field ``place``."""
        if self.kind != UNREADABLE:
            return self
        joint = "." if self.field and not self.field.startswith("[") else ""
        return replace(self, field=f"{place}{joint}{self.field}")


class VeriplayError(Exception):
    """The base of all errors of this package."""


class Unmeasured(VeriplayError):
    """Nothing was measured: the service could not be reached, was too busy, or lost the job. Never count it as a wrong answer."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"not measured: {fault}")
        self.fault = fault

    def __reduce__(self) -> tuple[type[Unmeasured], tuple[Fault]]:
        return type(self), (self.fault,)


class Rejected(VeriplayError):
    """The service refused a request (HTTP 4xx). Sending it again would not help, so the client does not."""

    def __init__(
        self, status: int, title: str, detail: str = "", field: str = "", kind: str = "", hint: str = ""
    ) -> None:
        where = f" (field `{field}`)" if field else ""
        text = f"the service refused the request with HTTP {status}: {detail or title}{where}"
        super().__init__(f"{text}\nhint: {hint}" if hint else text)
        self.status = status
        self.title = title
        self.detail = detail
        self.field = field
        self.kind = kind
        self.hint = hint

    def __reduce__(self) -> tuple[type[Rejected], tuple[int, str, str, str, str, str]]:
        return type(self), (self.status, self.title, self.detail, self.field, self.kind, self.hint)


class ServerError(VeriplayError):
    """The service answered with something that is not in its protocol: a bug in it, or another program at that address."""


class LocalServerError(VeriplayError):
    """The local server cannot be started. The message has the reason, the end of its log and a hint."""


class GameError(VeriplayError):
    """A game cannot be played on. The message says what failed, with the end of what the program wrote, and how to resume."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        """The exit code of the program: 3 bad input, 4 no image, 5 the trainer, 7 the host; ``None`` where it did not end."""

    def __reduce__(self) -> tuple[type[GameError], tuple[str, int | None]]:
        return type(self), (str(self), self.code)


class PromptTooLong(VeriplayError):
    """A trainer raises it where a prompt leaves no room for a response. In a later turn it ends that episode alone."""

    def __init__(self, index: int, tokens: int, context: int) -> None:
        super().__init__(f"prompt {index} has {tokens} tokens, and the model's context holds {context}")
        self.index = index
        """Of the prompt among those of the request."""
        self.tokens = tokens
        self.context = context

    def __reduce__(self) -> tuple[type[PromptTooLong], tuple[int, int, int]]:
        return type(self), (self.index, self.tokens, self.context)
