"""HTTP/1.1 to one address, over TCP, TLS or a Unix socket, with kept connections: blocking by ``http.client``, and by asyncio's streams.

Neither half retries. Both raise :class:`ConnectionLost` for whatever the network does, and hand any complete answer to the caller.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import socket
import ssl
import threading
import urllib.parse
import weakref
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

__all__ = ["Address", "AsyncConnections", "AsyncReply", "ConnectionLost", "Connections", "Reply"]

#: Seconds to wait for a connection to be made.
CONNECT_SECONDS = 10.0
#: The longest line of a stream: one verdict, whose evidence is a few kilobytes at most.
LONGEST_LINE = 64 << 20
#: Connections that are kept open for the next request.
KEPT = 64


T = TypeVar("T")


class ConnectionLost(Exception):
    """No complete answer came. ``idle`` says that a kept connection had been closed meanwhile, which proves nothing about the service."""

    def __init__(self, cause: BaseException | str, idle: bool = False) -> None:
        super().__init__(str(cause) or type(cause).__name__)
        self.idle = idle


@dataclass(frozen=True)
class Address:
    """Where a service listens: ``http://host:port/base``, ``https://…`` or ``unix:/path/of.sock``."""

    scheme: str
    host: str
    port: int
    base: str = ""

    @classmethod
    def parse(cls, url: str) -> Address:
        """Reads a URL.

        Raises:
            ValueError: it is neither HTTP nor a Unix socket.
        """
        if url.startswith("unix:"):
            path = url.removeprefix("unix:")
            path = "/" + path.lstrip("/") if path.startswith("//") else path
            return cls("unix", path, 0)
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(
                f"`{url}` is no address of a service; hint: write `http://host:port` or `unix:/path/of.sock`"
            )
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return cls(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))

    @property
    def authority(self) -> str:
        """The value of the ``Host`` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return "localhost" if self.scheme == "unix" else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"unix:{self.host}" if self.scheme == "unix" else f"{self.scheme}://{self.authority}{self.base}"


@dataclass(frozen=True)
class Reply:
    """A complete answer, or the head of one whose body is read line by line."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = b""
    lines: Iterator[bytes] = field(default_factory=lambda: iter(()))


@dataclass(frozen=True)
class AsyncReply:
    """The same for asyncio."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    lines: AsyncIterator[bytes]


def is_stream(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the body is JSON lines, to be read as they come."""
    return status == 200 and headers.get("content-type", "").startswith("application/x-ndjson")


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Connections:
    """Blocking connections, shared by the threads of a process. A forked child begins without any."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._lock = threading.Lock()
        self._idle: list[tuple[Address, http.client.HTTPConnection]] = []
        _forget_in_children(self)

    @contextlib.contextmanager
    def request(
        self, address: Address, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Iterator[Reply]:
        """Sends one request. The reply's lines must be read inside the ``with`` block.

        Raises:
            ConnectionLost: no complete answer came.
        """
        connection, kept = self._take(address)
        reusable = False
        try:
            try:
                connection.request(method, address.base + path, body, {"Host": address.authority, **headers})
                response = connection.getresponse()
            except (OSError, http.client.HTTPException) as error:
                raise ConnectionLost(error, idle=kept) from error
            head = {name.lower(): value for name, value in response.getheaders()}
            if is_stream(response.status, head):
                yield Reply(response.status, head, lines=_lines(response))
            else:
                yield Reply(response.status, head, _body(response))
            reusable = response.isclosed() and not response.will_close
        finally:
            if reusable:
                self._give_back(address, connection)
            else:
                connection.close()

    def _take(self, address: Address) -> tuple[http.client.HTTPConnection, bool]:
        with self._lock:
            for at in reversed(range(len(self._idle))):
                if self._idle[at][0] == address:
                    return self._idle.pop(at)[1], True
        if address.scheme == "unix":
            return _UnixConnection(address.host, self._timeout), False
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = kind(address.host, address.port, timeout=CONNECT_SECONDS)
        try:
            connection.connect()
        except OSError as error:
            raise ConnectionLost(error) from error
        connection.sock.settimeout(self._timeout)
        return connection, False

    def _give_back(self, address: Address, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < KEPT:
                self._idle.append((address, connection))
                return
        connection.close()

    def close(self) -> None:
        """Closes the connections that are not in use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def after_fork(self) -> None:
        """Forgets the parent's connections: two processes must not speak on one."""
        self._lock = threading.Lock()
        self.close()


def _body(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read()
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionLost(error) from error


def _lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
    while True:
        try:
            line = response.readline(LONGEST_LINE)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ConnectionLost(error) from error
        if not line:
            return
        if not line.endswith(b"\n"):
            raise ConnectionLost("the stream ended inside a line")
        yield line


_POOLS: weakref.WeakSet[Connections | AsyncConnections] = weakref.WeakSet()


def _forget_in_children(pool: Connections | AsyncConnections) -> None:
    _POOLS.add(pool)


def _after_fork() -> None:
    for pool in list(_POOLS):
        pool.after_fork()


os.register_at_fork(after_in_child=_after_fork)


#: What reading and writing a stream of asyncio raises. A name without an address is an ``OSError`` too.
_LOST = (
    OSError,
    asyncio.TimeoutError,
    asyncio.IncompleteReadError,
    asyncio.LimitOverrunError,
    ValueError,
    ConnectionLost,
)


class _Stream:
    """One connection of asyncio, and the reading of answers from it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer
        self.complete = False

    async def send(self, head: bytes, body: bytes) -> None:
        self.complete = False
        self.writer.write(head)
        self.writer.write(body)
        await self.writer.drain()

    async def read_head(self) -> tuple[int, dict[str, str]]:
        status = 100
        while 100 <= status < 200:
            head = await self._reader.readuntil(b"\r\n\r\n")
            first, *rest = head.decode("latin-1").split("\r\n")
            version, _, after = first.partition(" ")
            if not version.startswith("HTTP/1."):
                raise ConnectionLost(f"`{first[:80]}` is no line of HTTP/1.1")
            status = int(after[:3])
            pairs = (line.partition(":") for line in rest if line)
            headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        return status, headers

    async def pieces(self, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
        """The body as it comes. ``complete`` is set when its end was seen and the connection can be used again."""
        if "chunked" in headers.get("transfer-encoding", "").lower():
            while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
                yield await self._reader.readexactly(size)
                await self._reader.readexactly(2)
            while await self._reader.readuntil(b"\r\n") != b"\r\n":
                pass
        elif "content-length" in headers:
            yield await self._reader.readexactly(int(headers["content-length"]))
        else:
            yield await self._reader.read()
            return
        self.complete = headers.get("connection", "").lower() != "close"


async def _async_lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = b""
    async for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line + b"\n"
    if rest:
        raise ConnectionLost("the stream ended inside a line")


class AsyncConnections:
    """Connections of asyncio, kept for each event loop. A forked child begins without any."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._idle: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, list[tuple[Address, _Stream]]]
        self._idle = weakref.WeakKeyDictionary()
        _forget_in_children(self)

    @contextlib.asynccontextmanager
    async def request(
        self, address: Address, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[AsyncReply]:
        """Sends one request. The reply's lines must be read inside the ``async with`` block.

        Raises:
            ConnectionLost: no complete answer came.
        """
        stream, kept = await self._take(address)
        try:
            try:
                await self._timed(stream.send(_head(address, method, path, headers, len(body)), body))
                status, head = await self._timed(stream.read_head())
            except _LOST as error:
                raise ConnectionLost(error, idle=kept) from error
            pieces = self._guarded(stream.pieces(head))
            if is_stream(status, head):
                yield AsyncReply(status, head, b"", _async_lines(pieces))
            else:
                yield AsyncReply(status, head, b"".join([piece async for piece in pieces]), _async_lines(pieces))
        finally:
            if stream.complete and len(self._kept()) < KEPT:
                self._kept().append((address, stream))
            else:
                stream.writer.close()

    async def _timed(self, awaited: Awaitable[T]) -> T:
        return await asyncio.wait_for(awaited, self._timeout)

    async def _guarded(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        while True:
            try:
                piece = await self._timed(anext(pieces))
            except StopAsyncIteration:
                return
            except _LOST as error:
                raise ConnectionLost(error) from error
            yield piece

    def _kept(self) -> list[tuple[Address, _Stream]]:
        return self._idle.setdefault(asyncio.get_running_loop(), [])

    async def _take(self, address: Address) -> tuple[_Stream, bool]:
        kept = self._kept()
        for at in reversed(range(len(kept))):
            if kept[at][0] == address:
                stream = kept.pop(at)[1]
                if not stream.writer.is_closing():
                    return stream, True
        try:
            return _Stream(*await asyncio.wait_for(_connect(address), CONNECT_SECONDS)), False
        except _LOST as error:
            raise ConnectionLost(error) from error

    def close(self) -> None:
        """Closes the connections of the running loop that are not in use."""
        for _, stream in self._idle.pop(asyncio.get_running_loop(), []):
            stream.writer.close()

    def after_fork(self) -> None:
        """Forgets the parent's connections, whose loop does not run here."""
        self._idle = weakref.WeakKeyDictionary()


def _head(address: Address, method: str, path: str, headers: Mapping[str, str], length: int) -> bytes:
    fields = {"Host": address.authority, "Content-Length": str(length), **headers}
    lines = [f"{method} {address.base}{path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "".join(line + "\r\n" for line in [*lines, ""]).encode("latin-1")


async def _connect(address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if address.scheme == "unix":
        return await asyncio.open_unix_connection(address.host)
    secure = ssl.create_default_context() if address.scheme == "https" else None
    return await asyncio.open_connection(address.host, address.port, ssl=secure)
