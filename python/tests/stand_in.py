#!/usr/bin/env python3
"""Stands in for the program `veriplay`: `serve --socket PATH --idle-exit SECONDS`, answering as tests/scripted.py does.

What a run prints is the server's process id. `STAND_IN_FAILS` makes it end at once, `STAND_IN_LOG` is appended to at each start.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from scripted import Handler, Script, answer


class Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128


def respond(handler: Handler) -> None:
    if handler.path == "/v1/run":
        text = {"exit": "returned", "value": None, "error": None, "stdout": str(os.getpid()), "stderr": ""}
        handler.reply(200, {**text, "truncated": False, "fuel": 5, "peak_memory_bytes": 6})
    elif handler.path == "/ready":
        handler.reply(200, {})
    else:
        answer(handler)


class Standing(Handler):
    script = Script(otherwise=respond)


def main(arguments: list[str]) -> None:
    options = dict(zip(arguments[1::2], arguments[2::2], strict=False))
    if log := os.environ.get("STAND_IN_LOG"):
        with open(log, "a") as file:
            file.write(f"{os.getpid()} {' '.join(arguments)}\n")
    if os.environ.get("STAND_IN_FAILS"):
        sys.exit("error: no image\nhint: build one")
    path = options["--socket"]
    if os.path.exists(path):
        os.unlink(path)
    server: Any = Server(path, Standing)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.sigwait({signal.SIGTERM})
    os.unlink(path)


main(sys.argv[1:])
