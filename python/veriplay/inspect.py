"""inspect_ai: the scorer :func:`verify`, and the sandbox ``veriplay``, found through this package's entry point.

.. code-block:: python

    from veriplay.inspect import verify
    Task(dataset=…, solver=generate(), scorer=verify())

The scorer judges the model's answer as ``veriplay verify`` does, with tests that the answer cannot read. It needs no sandbox of inspect's.

.. code-block:: python

    Task(dataset=…, solver=generate(), scorer=…, sandbox="veriplay")

The sandbox is for scorers and solvers that run programs themselves. It runs Python and nothing else: ``python3 -c CODE``, ``python3 FILE``
and ``python3 -`` with the program on standard input, as scorers of programs do (HumanEval, MBPP, APPS). Every command begins in a fresh
interpreter that sees the sample's files; what it writes to files is not kept. A shell, packages and a network are not there: such a command
ends with code 127.

A program over its time raises ``TimeoutError``, as inspect's other sandboxes do. A fault of the service raises ``SandboxUnavailableError``,
which is no result of the sample.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from veriplay._reward import Credit
from veriplay.client import PATIENCE
from veriplay.errors import Unmeasured
from veriplay.records import Limits, Outcome
from veriplay.tasks import task_from
from veriplay.verifier import shared_runner, shared_verifier

if TYPE_CHECKING:
    from typing import ParamSpec, Protocol

    class SandboxEnvironment:
        """What is used of inspect's."""

        def __init__(self) -> None: ...

    class ExecResult:
        """A result of a command."""

        def __init__(self, success: bool, returncode: int, stdout: str, stderr: str) -> None: ...

    class SandboxUnavailableError(Exception): ...

    class Score:
        """A score of a sample."""

        def __init__(self, *, value: str | float, answer: str, explanation: str, metadata: dict[str, Any]) -> None: ...

        @classmethod
        def unscored(cls, *, reason: str, answer: str, explanation: str) -> Score:
            """What metrics leave out."""

    _Arguments = ParamSpec("_Arguments")
    _Score = Callable[[Any, Any], Awaitable[Score]]
    CORRECT: str
    INCORRECT: str
    accuracy: Callable[[], Any]
    stderr: Callable[[], Any]

    def scorer(metrics: list[Any]) -> Callable[[Callable[_Arguments, _Score]], Callable[_Arguments, _Score]]:
        """Registers a scorer."""

    class _Register(Protocol):
        def __call__(self, name: str) -> Any: ...

    sandboxenv: _Register
else:
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr
    from inspect_ai.util import ExecResult, SandboxEnvironment, sandboxenv

    try:
        from inspect_ai.util import SandboxUnavailableError
    except ImportError:  # older versions have no word for it
        SandboxUnavailableError = ConnectionError

__all__ = ["VeriplaySandbox", "verify"]

#: Commands that are Python.
PYTHONS = ("python", "python3")
#: What a shell returns for a command that it does not find.
NOT_FOUND = 127


@scorer(metrics=[accuracy(), stderr()])
def verify(
    column: str | None = None,
    url: str | None = None,
    patience: float = PATIENCE,
    credit: Credit = "accepted",
    format: str | None = None,
) -> Callable[[Any, Any], Awaitable[Score]]:
    """A scorer that judges the model's answer. A sample without a verdict is unscored, which metrics leave out: it is not incorrect.

    Args:
        column: the key of the sample's metadata with the task (:mod:`veriplay.tasks` has the shapes); by default the task is the target.
        url: the service; by default ``VERIPLAY_URL``, else the server of this machine.
        patience: seconds to go on without an answer.
        credit: ``accepted`` scores correct or incorrect, ``fraction`` the part of the checks that passed.
        format: the format of the tasks, where their shape does not say it.
    """

    if credit not in ("accepted", "fraction"):
        raise ValueError(f"`credit` is `{credit}`; hint: write `accepted` or `fraction`")

    async def score(state: Any, target: Any) -> Score:
        answer = state.output.completion
        task = task_from(target.text if column is None else state.metadata[column], format)
        try:
            verdict = await shared_verifier(url, patience).judge(task, answer, early_stop=credit == "accepted")
            verdict.require()
        except Unmeasured as error:
            return Score.unscored(reason="scoring_failed", answer=answer, explanation=str(error))
        value = (verdict.fraction or 0.0) if credit == "fraction" else CORRECT if verdict.accepted else INCORRECT
        metadata = {"status": verdict.status, "passed": verdict.passed, "total": verdict.total}
        return Score(value=value, answer=answer, explanation=f"{verdict.status}", metadata=metadata)

    return score


@sandboxenv(name="veriplay")
class VeriplaySandbox(SandboxEnvironment):
    """The files of one sample, and Python to run on them."""

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[str, bytes] = {}

    @classmethod
    async def sample_init(cls, task_name: str, config: Any, metadata: dict[str, str]) -> dict[str, VeriplaySandbox]:
        """A sandbox for one sample."""
        return {"default": cls()}

    @classmethod
    async def sample_cleanup(cls, task_name: str, config: Any, environments: dict[str, Any], interrupted: bool) -> None:
        """Nothing is left of a sample."""

    @classmethod
    def default_concurrency(cls) -> int | None:
        """Samples at once: the service queues them."""
        return 4 * (os.cpu_count() or 1)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult:
        """Runs Python. ``timeout`` is in seconds of native Python."""
        name = posixpath.basename(cmd[0]) if cmd else ""
        if name not in PYTHONS:
            return ExecResult(False, NOT_FOUND, "", f"{name}: not found; the sandbox `veriplay` runs `python3` alone\n")
        try:
            program, arguments, stdin = self._program(cmd[1:], input, cwd)
        except FileNotFoundError as error:
            return ExecResult(False, 2, "", f"python3: can't open file '{error.filename}': no such file\n")
        except ValueError as error:
            return ExecResult(False, 2, "", f"python3: {error}\n")
        limits = Limits(seconds=timeout or None)
        try:
            files = self._visible(cwd)
            source = _with_environment(program, arguments, env) if files or env or len(arguments) > 1 else program
            outcome = await shared_runner().async_client.run(source, stdin, files=files, limits=limits)
        except Unmeasured as error:
            raise SandboxUnavailableError(str(error)) from error
        return _result(outcome)

    def _program(
        self, arguments: list[str], input: str | bytes | None, cwd: str | None
    ) -> tuple[str, list[str], bytes]:
        """The program's text, its ``sys.argv``, and what it reads."""
        stdin = input.encode() if isinstance(input, str) else input or b""
        while arguments and arguments[0] in ("-u", "-B", "-I", "-s", "-S", "-E"):
            arguments = arguments[1:]
        match arguments:
            case ["-c", code, *rest]:
                return code, ["-c", *rest], stdin
            case [] | ["-"]:
                return stdin.decode(errors="replace"), ["-"], b""
            case [option, *_] if option.startswith("-"):
                raise ValueError(f"the option `{option}` is not supported by the sandbox `veriplay`")
            case [path, *rest]:
                content = self._files.get(_absolute(path, cwd))
                if content is None:
                    raise FileNotFoundError(2, "no such file", path)
                return content.decode(errors="replace"), [path, *rest], stdin
        raise AssertionError(arguments)

    def _visible(self, cwd: str | None) -> dict[str, bytes]:
        """The sample's files, named from the working directory, which is the program's."""
        base = _absolute(".", cwd)
        named = ((posixpath.relpath(path, base), content) for path, content in self._files.items())
        return {path: content for path, content in named if not path.startswith("..")}

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Keeps a file for the commands of this sample."""
        self._files[_absolute(file, None)] = contents.encode() if isinstance(contents, str) else contents

    async def read_file(self, file: str, text: bool = True) -> Any:
        """A file that was written before."""
        content = self._files.get(_absolute(file, None))
        if content is None:
            raise FileNotFoundError(2, "no such file in the sandbox", file)
        return content.decode() if text else content


def _absolute(path: str, cwd: str | None) -> str:
    return posixpath.normpath(posixpath.join("/", cwd or "", path))


def _with_environment(program: str, arguments: list[str], env: dict[str, str] | None) -> str:
    """The program as an interpreter finds itself: with ``sys.argv``, the folder of the program on ``sys.path``, and the environment.

    Line numbers stay those of the program.
    """
    name = arguments[0]
    folder = "" if name in ("-c", "-") else posixpath.dirname(name)
    settings = (
        f"import sys, os; sys.argv[:] = {arguments!r}; sys.path.insert(0, {folder or '.'!r}); "
        f"os.environ.update({env or {}!r}); del sys, os"
    )
    return f"exec({settings!r}); exec(compile({program!r}, {name!r}, 'exec'))"


def _result(outcome: Outcome) -> ExecResult:
    if outcome.exit in ("fuel_exhausted", "deadline_exceeded"):
        raise TimeoutError("the program was stopped at its limit")
    if outcome.exit == "memory_exceeded":
        return ExecResult(False, 137, outcome.stdout, outcome.stderr + "MemoryError\n")
    if outcome.ok:
        return ExecResult(True, 0, outcome.stdout, outcome.stderr)
    said = outcome.stderr
    if outcome.error and outcome.error[0] != "SystemExit" and outcome.error[1] not in said:
        said += f"{outcome.error[0]}: {outcome.error[1]}\n"
    # A program that leaves by `os._exit(0)` in the midst of its tests has not passed them.
    return ExecResult(False, outcome.exit_code or 1, outcome.stdout, said)
