"""One object for blocking and asyncio code: what the functions for trainers use."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ._wire import Conditions
from .client import PATIENCE, TIMEOUT, AsyncClient, Client, find_endpoint
from .errors import Unmeasured
from .records import Limits, Outcome, Verdict
from .tasks import pair

__all__ = ["Judge", "Verifier", "shared_verifier"]

#: Begins what names a pool of :mod:`veriplay.ray`, in the place of a URL.
POOL = "ray:"


class Judge(Protocol):
    """What judges attempts: a :class:`Verifier`, or a pool of :mod:`veriplay.ray`."""

    def verify(self, tasks: Any, attempts: Iterable[Any], **conditions: Any) -> list[Verdict]:
        """As :meth:`Verifier.verify`."""

    def measure(self, tasks: Any, attempts: Iterable[Any], **conditions: Any) -> list[Verdict]:
        """As :meth:`Verifier.measure`."""

    async def judge(self, task: Any, attempt: Any, **conditions: Any) -> Verdict:
        """As :meth:`Verifier.judge`."""

    async def measure_one(self, task: Any, attempt: Any, **conditions: Any) -> Verdict:
        """As :meth:`Verifier.measure_one`."""


class Verifier:
    """Judges attempts and runs programs, at ``url`` or on the local server.

    Args:
        url: as for :class:`~veriplay.Client`: by default ``VERIPLAY_URL``, else one server that all processes of this user on this machine
            share. It is started on first use, ends with its last user, and is started again if it is killed.
        token: the bearer token; by default that of ``VERIPLAY_TOKEN`` or ``VERIPLAY_TOKEN_FILE``.
        patience: seconds without any answer after which attempts count as not measured.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, patience: float = PATIENCE, timeout: float = TIMEOUT
    ) -> None:
        endpoint = find_endpoint(url)
        self.client = Client(token=token, patience=patience, timeout=timeout, endpoint=endpoint)
        self.async_client = AsyncClient(token=token, patience=patience, timeout=timeout, endpoint=endpoint)

    def run(
        self,
        program: str,
        stdin: str | bytes = b"",
        *,
        files: Mapping[str, bytes] | None = None,
        call: str | None = None,
        arguments: Sequence[Any] = (),
        limits: Limits = Limits(),
        seed: int = 0,
    ) -> Outcome:
        """Runs one program: see :meth:`Client.run`."""
        return self.client.run(program, stdin, files=files, call=call, arguments=arguments, limits=limits, seed=seed)

    def verify(self, tasks: Any, attempts: Iterable[Any], **conditions: Any) -> list[Verdict]:
        """Judges attempts: see :meth:`Client.verify`."""
        return self.client.verify(tasks, attempts, **conditions)

    def measure(self, tasks: Any, attempts: Iterable[Any], **conditions: Any) -> list[Verdict]:
        """As :meth:`verify`, but a service that cannot be reached is a fault of each attempt that has no verdict, and no exception."""
        paired = pair(tasks, attempts)
        found: dict[int, Verdict] = {}
        try:
            for index, verdict in self.client.stream(paired, Conditions(**conditions)):
                found[index] = verdict
        except Unmeasured as error:
            lost = Verdict.from_fault(error.fault)
            return [found.get(index, lost) for index in range(len(paired))]
        return [found[index] for index in range(len(paired))]

    async def judge(self, task: Any, attempt: Any, **conditions: Any) -> Verdict:
        """Judges one attempt. Calls that are made at about the same time travel together.

        Raises:
            Unmeasured: the service could not be reached for ``patience`` seconds. A fault of the one attempt is in the verdict.
        """
        (paired,) = pair(task if isinstance(task, (str, bytes)) else [task], [attempt])
        return await self.async_client.judge(paired, Conditions(**conditions))

    async def measure_one(self, task: Any, attempt: Any, **conditions: Any) -> Verdict:
        """As :meth:`judge`, but a service that cannot be reached is a fault, and no exception."""
        try:
            return await self.judge(task, attempt, **conditions)
        except Unmeasured as error:
            return Verdict.from_fault(error.fault)

    def close(self) -> None:
        """Closes the connections that blocking calls have kept."""
        self.client.close()

    def __enter__(self) -> Verifier:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def shared_verifier(url: str | None = None, patience: float = PATIENCE) -> Judge:
    """One verifier for each address and patience, for functions that are called once an attempt. ``ray:`` is a pool of all nodes."""
    url = url or os.environ.get("VERIPLAY_URL")
    if url is not None and url.startswith(POOL):
        from .ray import shared_pool

        return shared_pool(url, patience)
    return _verifier_at(url, patience)


def shared_runner() -> Verifier:
    """The same for functions that run programs, which a pool does not.

    Raises:
        ValueError: ``VERIPLAY_URL`` names a pool.
    """
    url = os.environ.get("VERIPLAY_URL")
    if url is not None and url.startswith(POOL):
        hint = "unset `VERIPLAY_URL`, and give `url` to the reward function"
        raise ValueError(
            f"`VERIPLAY_URL` is `{url}`, a pool that judges attempts and runs no single programs; hint: {hint}"
        )
    return _verifier_at(url, PATIENCE)


@functools.lru_cache(maxsize=64)
def _verifier_at(url: str | None, patience: float) -> Verifier:
    return Verifier(url, patience=patience)
