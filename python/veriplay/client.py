"""Clients of the service ``veriplay serve``: blocking, and for asyncio.

Both send batches, read verdicts as they come, and try again where that can help: after a lost connection, and after HTTP 429, 502, 503 and
504, with growing pauses that honour ``Retry-After``. What was answered is not asked again. A request that is wrong (any other 4xx) is never
repeated. Verdicts are pure functions of what was sent, so sending an attempt twice is harmless.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
import weakref
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from pathlib import Path
from typing import Any, NoReturn, Protocol

from . import _wire
from ._http import Address, AsyncConnections, AsyncReply, ConnectionLost, Connections, Reply
from ._retry import RETRIED, Patience, retry_after
from ._wire import Batch, Conditions, Tasks
from .errors import Rejected, ServerError, Unmeasured
from .records import Attempt, Limits, Outcome, Verdict
from .tasks import pair

__all__ = ["AsyncClient", "Client"]

#: Seconds without any answer after which a request raises :class:`Unmeasured`.
PATIENCE = 120.0
#: Seconds without a byte after which a connection counts as lost.
TIMEOUT = 600.0


#: Attempts that are asked for at about the same time, each with who waits for its verdict.
Gathered = list[tuple[Attempt, "asyncio.Future[Verdict]"]]


class Endpoint(Protocol):
    """Knows where the service is."""

    def address(self) -> Address:
        """Its address. This may start it, and blocks for so long."""

    def known(self) -> Address | None:
        """The same where it is known without blocking."""

    def lost(self) -> None:
        """A connection to it was lost: :meth:`address` is to look again."""


class FixedEndpoint:
    """A service that somebody else starts."""

    def __init__(self, url: str) -> None:
        self._address = Address.parse(url)

    def address(self) -> Address:
        """Where it is."""
        return self._address

    def known(self) -> Address | None:
        """The same."""
        return self._address

    def lost(self) -> None:
        """There is nothing to do about it."""


def find_endpoint(url: str | None) -> Endpoint:
    """The service at ``url``, else at ``VERIPLAY_URL``, else the local server that the user's processes on this machine share."""
    url = url or os.environ.get("VERIPLAY_URL")
    if url:
        return FixedEndpoint(url)
    from .local import LocalServer

    return LocalServer.shared()


def read_token(token: str | None) -> str | None:
    """``token``, else ``VERIPLAY_TOKEN``, else the first line of the file that ``VERIPLAY_TOKEN_FILE`` names."""
    token = token or os.environ.get("VERIPLAY_TOKEN")
    path = os.environ.get("VERIPLAY_TOKEN_FILE")
    if token is None and path:
        lines = (line.strip() for line in Path(path).read_text().splitlines())
        token = next((line for line in lines if line and not line.startswith("#")), None)
    return token


class _Common:
    """What both clients have: the address, the headers, the tasks that were sent."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        patience: float = PATIENCE,
        timeout: float = TIMEOUT,
        endpoint: Endpoint | None = None,
    ) -> None:
        self._endpoint = endpoint or find_endpoint(url)
        self._patience = patience
        self._timeout = timeout
        self._known = Tasks()
        self._headers = {"Content-Type": "application/json", "User-Agent": "veriplay-python"}
        if secret := read_token(token):
            self._headers["Authorization"] = f"Bearer {secret}"

    def _batch(self, attempts: Sequence[Attempt], conditions: Conditions) -> Batch:
        return Batch(attempts, conditions, self._known)

    def _pause_after(self, cause: ConnectionLost | Reply | AsyncReply, patience: Patience) -> float:
        """Seconds to wait before the next try.

        Raises:
            Unmeasured: patience is at its end.
            Rejected, ServerError: another try would not help.
        """
        where = self._endpoint.known()
        if isinstance(cause, ConnectionLost):
            self._endpoint.lost()
            if cause.idle:
                return 0.0
            pause, status, what = patience.pause(), None, f"no answer from {where}: {cause}"
        else:
            if cause.status not in RETRIED:
                self._refused(cause)
            _wire.raise_final_fault(cause.body)
            pause, status = patience.pause(retry_after(cause.headers)), cause.status
            what = f"{where} answered HTTP {cause.status}: {_wire.problem(cause.body).get('detail', 'no reason given')}"
        if pause is None:
            raise _wire.give_up(f"{what}; gave up after {self._patience:g} s without progress", status, patience.tries)
        return pause

    def _refused(self, reply: Reply | AsyncReply) -> NoReturn:
        _wire.raise_for(reply.status, reply.body)
        raise ServerError(f"{self._endpoint.known()} answered HTTP {reply.status}, which is not in its protocol")

    def _is_forgotten(self, batch: Batch, reply: Reply | AsyncReply) -> bool:
        """Whether a digest was sent whose task the service has dropped: all tasks are sent in full again."""
        forgotten = batch.sent_digests and _wire.is_unknown_task(reply.status, reply.body)
        if forgotten:
            self._known.forget()
        return forgotten


class Client(_Common):
    """A blocking client, for any number of threads.

    Args:
        url: ``http://host:port``, ``https://…`` or ``unix:/path``; by default ``VERIPLAY_URL``, else the local server, which is started.
        token: the bearer token; by default ``VERIPLAY_TOKEN``, or the first token in the file ``VERIPLAY_TOKEN_FILE``.
        patience: seconds without any answer after which :class:`Unmeasured` is raised.
        timeout: seconds without a byte after which a connection counts as lost.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        patience: float = PATIENCE,
        timeout: float = TIMEOUT,
        endpoint: Endpoint | None = None,
    ) -> None:
        super().__init__(url, token=token, patience=patience, timeout=timeout, endpoint=endpoint)
        self._connections = Connections(timeout)
        self._sleep = time.sleep

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
        """Runs one program and says what it did.

        With ``call``, the function of that name is called with ``arguments`` and its value reported.

        Raises:
            Unmeasured: the service failed, not the program.
        """
        body = _wire.run_body(program, stdin, files, call, arguments, limits, seed)
        return _wire.read_outcome(self._ask("POST", _wire.RUN, body))

    def verify(self, tasks: Any, attempts: Iterable[Any], **conditions: Any) -> list[Verdict]:
        """Judges attempts: a verdict for each, in order. One with a fault has no status, and its reward is ``None``.

        ``tasks`` is one task, one for each attempt, or a mapping from names: see :func:`veriplay.tasks.pair`. The conditions are those of
        :class:`Conditions`: ``limits``, ``seed``, ``early_stop``, ``deadline``.

        Raises:
            Unmeasured: the service could not be reached, or was too busy, for ``patience`` seconds.
            Rejected: the request is invalid. A row that cannot be read is the fault of its own attempts.
        """
        paired = pair(tasks, attempts)
        found = dict(self.stream(paired, Conditions(**conditions)))
        return [found[index] for index in range(len(paired))]

    def stream(
        self, attempts: Sequence[Attempt], conditions: Conditions = Conditions()
    ) -> Iterator[tuple[int, Verdict]]:
        """Judges attempts: each one's index and verdict, as soon as it is there."""
        batch, patience = self._batch(attempts, conditions), Patience(self._patience)
        yield from batch.unsent
        while request := batch.next_request():
            try:
                with self._send("POST", _wire.VERIFY, request.body) as reply:
                    if reply.status != 200:
                        if not self._is_forgotten(batch, reply):
                            self._sleep(self._pause_after(reply, patience))
                        continue
                    for line in reply.lines:
                        patience.progress()
                        if answer := batch.take(request, line):
                            yield answer
                if request.unanswered:
                    raise ConnectionLost("the answer ended early")
            except ConnectionLost as lost:
                self._sleep(self._lost(lost, patience))
            finally:
                batch.end_request()

    def info(self) -> dict[str, Any]:
        """What the service says of itself: version, image, limits, formats."""
        answer = json.loads(self._ask("GET", "/v1/info", b""))
        return dict(answer)

    def _ask(self, method: str, path: str, body: bytes) -> bytes:
        patience = Patience(self._patience)
        while True:
            try:
                with self._send(method, path, body) as reply:
                    if reply.status == 200:
                        return reply.body
                    pause = self._pause_after(reply, patience)
            except ConnectionLost as lost:
                pause = self._lost(lost, patience)
            self._sleep(pause)

    def _send(self, method: str, path: str, body: bytes) -> AbstractContextManager[Reply]:
        return self._connections.request(self._endpoint.address(), method, path, self._headers, body)

    def _lost(self, lost: ConnectionLost, patience: Patience) -> float:
        self._connections.close()
        return self._pause_after(lost, patience)

    def close(self) -> None:
        """Closes the connections. The client can be used again."""
        self._connections.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_Common):
    """The same for asyncio. It may be used from several event loops, one after the other or in several threads.

    :meth:`judge` collects the calls that are made at about the same time into one request: many coroutines that judge one attempt each
    cost about what one batch costs.
    """

    #: Seconds to wait for further calls of :meth:`judge`.
    GATHER_SECONDS = 0.002

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        patience: float = PATIENCE,
        timeout: float = TIMEOUT,
        endpoint: Endpoint | None = None,
    ) -> None:
        super().__init__(url, token=token, patience=patience, timeout=timeout, endpoint=endpoint)
        self._connections = AsyncConnections(timeout)
        self._sleep = asyncio.sleep
        # For each loop: what is left of one that was closed must not wait for the next that has its address.
        self._gathering: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Conditions, Gathered]]
        self._gathering = weakref.WeakKeyDictionary()
        self._running: set[asyncio.Task[None]] = set()

    async def run(
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
        """As :meth:`Client.run`."""
        body = _wire.run_body(program, stdin, files, call, arguments, limits, seed)
        return _wire.read_outcome(await self._ask("POST", _wire.RUN, body))

    async def verify(self, tasks: Any, attempts: Iterable[Any], **conditions: Any) -> list[Verdict]:
        """As :meth:`Client.verify`."""
        paired = pair(tasks, attempts)
        found = {index: verdict async for index, verdict in self.stream(paired, Conditions(**conditions))}
        return [found[index] for index in range(len(paired))]

    async def stream(
        self, attempts: Sequence[Attempt], conditions: Conditions = Conditions()
    ) -> AsyncIterator[tuple[int, Verdict]]:
        """As :meth:`Client.stream`."""
        batch, patience = self._batch(attempts, conditions), Patience(self._patience)
        for index, verdict in batch.unsent:
            yield index, verdict
        while request := batch.next_request():
            try:
                async with await self._send("POST", _wire.VERIFY, request.body) as reply:
                    if reply.status != 200:
                        if not self._is_forgotten(batch, reply):
                            await self._sleep(self._pause_after(reply, patience))
                        continue
                    async for line in reply.lines:
                        patience.progress()
                        if answer := batch.take(request, line):
                            yield answer
                if request.unanswered:
                    raise ConnectionLost("the answer ended early")
            except ConnectionLost as lost:
                await self._sleep(self._lost(lost, patience))
            finally:
                batch.end_request()

    async def judge(self, attempt: Attempt, conditions: Conditions = Conditions()) -> Verdict:
        """Judges one attempt, in one request with others that are asked for at about the same time."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Verdict] = loop.create_future()
        waiting = self._gathering.setdefault(loop, {}).setdefault(conditions, [])
        waiting.append((attempt, future))
        if len(waiting) == 1:
            loop.call_later(self.GATHER_SECONDS, self._start_gathered, conditions)
        return await future

    def _start_gathered(self, conditions: Conditions) -> None:
        loop = asyncio.get_running_loop()
        gathered = self._gathering[loop].pop(conditions)
        task = loop.create_task(self._judge_gathered(gathered, conditions))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _judge_gathered(self, gathered: Gathered, conditions: Conditions) -> None:
        wanted = [(attempt, future) for attempt, future in gathered if not future.done()]
        try:
            async for index, verdict in self.stream([attempt for attempt, _ in wanted], conditions):
                if not wanted[index][1].done():
                    wanted[index][1].set_result(verdict)
        except Rejected as error:
            await self._judge_apart(wanted, conditions, error)
        except BaseException as error:
            for _, future in wanted:
                if not future.done():
                    future.set_exception(error)
            if not isinstance(error, Exception):
                raise

    async def _judge_apart(self, wanted: Gathered, conditions: Conditions, error: Rejected) -> None:
        """One invalid task has the whole request refused: the attempts at each task are sent for themselves."""
        groups: dict[str, Gathered] = {}
        for attempt, future in wanted:
            if not future.done():
                groups.setdefault(attempt.task.key, []).append((attempt, future))
        if len(groups) == 1:
            for _, future in wanted:
                if not future.done():
                    future.set_exception(error)
            return
        await asyncio.gather(*(self._judge_gathered(group, conditions) for group in groups.values()))

    async def info(self) -> dict[str, Any]:
        """As :meth:`Client.info`."""
        answer = json.loads(await self._ask("GET", "/v1/info", b""))
        return dict(answer)

    async def _ask(self, method: str, path: str, body: bytes) -> bytes:
        patience = Patience(self._patience)
        while True:
            try:
                async with await self._send(method, path, body) as reply:
                    if reply.status == 200:
                        return reply.body
                    pause = self._pause_after(reply, patience)
            except ConnectionLost as lost:
                pause = self._lost(lost, patience)
            await self._sleep(pause)

    async def _send(self, method: str, path: str, body: bytes) -> AbstractAsyncContextManager[AsyncReply]:
        address = self._endpoint.known()
        if address is None:
            # Finding it may start it, and wait.
            address = await asyncio.to_thread(self._endpoint.address)
        return self._connections.request(address, method, path, self._headers, body)

    def _lost(self, lost: ConnectionLost, patience: Patience) -> float:
        self._connections.close()
        return self._pause_after(lost, patience)

    async def close(self) -> None:
        """Closes the connections of this event loop. The client can be used again."""
        self._connections.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def unmeasured(error: Unmeasured) -> Verdict:
    """An error of a whole request, as the verdict of each of its attempts."""
    return Verdict.from_fault(error.fault)
