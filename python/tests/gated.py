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


def copy(source: socket.socket, target: socket.socket, gated: Path | None = None) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(1 << 16):
            if gated is not None and piece.startswith(b"POST /v1/verify"):
                wait_at_gate(gated)
            target.sendall(piece)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def relay(client: socket.socket, path: str) -> None:
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    back = threading.Thread(target=copy, args=(server, client), daemon=True)
    back.start()
    copy(client, server, Path(path).parent)
    back.join()
    client.close()
    server.close()


def listen(path: str, behind: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(128)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=relay, args=(client, behind), daemon=True).start()


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
