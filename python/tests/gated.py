#!/usr/bin/env python3
"""The real program `veriplay serve --socket PATH` behind a gate: each request for verdicts waits until the test lets it through.

`GATED_BIN` is the real program. The folder of the socket has the node's name, and beside it is `gate`, the test's socket. For each request a
connection to it says this name, and its end lets the request through. Where nobody listens at the gate, it is open.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path


def die_with_parent() -> None:
    """So that a gate that is killed takes the server with it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def wait_at_gate(node: Path) -> None:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as gate:
        gate.connect(str(node.parent / "gate"))
        gate.sendall(node.name.encode() + b"\n")
        gate.recv(1)


class Relay:
    """A client's connection. What waits has no connection to the server yet: one that is silent for long would be closed."""

    def __init__(self, client: socket.socket, node: Path, behind: str) -> None:
        self.client, self.node, self.behind = client, node, behind
        self.server: socket.socket | None = None

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while piece := self.client.recv(1 << 16):
                gated = piece.startswith(b"POST /v1/verify")
                if gated:
                    wait_at_gate(self.node)
                if self.server is None or gated:
                    self.connect()
                self.server.sendall(piece)
        hang_up(self.client)
        hang_up(self.server)

    def connect(self) -> None:
        hang_up(self.server)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.connect(self.behind)
        threading.Thread(target=self.answer, args=(self.server,), daemon=True).start()

    def answer(self, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := server.recv(1 << 16):
                self.client.sendall(piece)
        if server is self.server:
            hang_up(self.client)
        server.close()


def hang_up(connection: socket.socket | None) -> None:
    with contextlib.suppress(OSError):
        if connection is not None:
            connection.shutdown(socket.SHUT_RDWR)


def listen(path: str, behind: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(128)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=Relay(client, Path(path).parent, behind).run, daemon=True).start()


def main(arguments: list[str]) -> None:
    path, idle = (arguments[arguments.index(name) + 1] for name in ("--socket", "--idle-exit"))
    behind = path + "r"
    command = [os.environ["GATED_BIN"], "serve", "--socket", behind, "--workers", "1", "--idle-exit", idle]
    command += ["--cache", str(Path(path).parent / "verdicts")]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
    assert server.stdout is not None
    if not server.stdout.readline():
        sys.exit("the real server did not start")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    threading.Thread(target=listen, args=(path, behind), daemon=True).start()
    signal.sigwait({signal.SIGTERM})
    server.terminate()
    server.wait()


main(sys.argv[1:])
