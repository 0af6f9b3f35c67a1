"""A service that does what a test says: it answers each request by the next step of a script, and by right answers when the script is over."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any

Step = Callable[["Handler"], None]


@dataclass
class Script:
    steps: list[Step] = field(default_factory=list)
    otherwise: Step = field(default_factory=lambda: answer)
    requests: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    tasks: dict[str, Any] = field(default_factory=dict)
    url: str = ""

    def bodies(self, path: str = "/v1/verify") -> list[Any]:
        return [body for _, found, _, body in self.requests if found.startswith(path)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = False
    script: Script

    def log_message(self, *_: object) -> None:
        pass

    def address_string(self) -> str:
        return "local"

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        self.body = json.loads(raw) if raw else None
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.script.lock:
            self.script.requests.append((self.command, self.path, headers, self.body))
            step = self.script.steps.pop(0) if self.script.steps else self.script.otherwise
        step(self)

    def reply(self, status: int, body: Any, kind: str = "application/json", **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def begin_lines(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def line(self, row: Any) -> None:
        self.piece(json.dumps(row).encode() + b"\n")

    def piece(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))
        self.wfile.flush()

    def end_lines(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def verdict(handler: Handler, index: int) -> dict[str, Any]:
    """An attempt is right where it says so."""
    attempt = handler.body["attempts"][index]
    text = attempt.get("completion", attempt.get("program"))
    status = "accepted" if "right" in text else "wrong_answer"
    passed = int("right" in text)
    evidence = {"jobs": [], "fuel": 7, "rule": "", "detail": ""}
    return {
        "index": index,
        "status": status,
        "passed": passed,
        "total": 1,
        "fuel": 7,
        "evidence": evidence,
        "judged": "d",
    }


def fault(index: int, kind: str = "worker_lost") -> dict[str, Any]:
    return {"index": index, "status": None, "reward": None, "fault": {"kind": kind, "message": "gone", "retried": 3}}


def answer(handler: Handler) -> None:
    """The right answer, in reversed order."""
    if handler.path.startswith("/v1/verify"):
        handler.begin_lines()
        for index in reversed(range(len(handler.body["attempts"]))):
            handler.line(verdict(handler, index))
        handler.end_lines()
    elif handler.path == "/v1/run":
        text = {"exit": "returned", "value": None, "error": None, "stdout": handler.body["program"], "stderr": ""}
        handler.reply(200, {**text, "truncated": False, "fuel": 5, "peak_memory_bytes": 6})
    else:
        handler.reply(200, {"version": "0"})


def status(code: int, **headers: str) -> Step:
    detail = {"type": "about:blank", "title": "no", "status": code, "detail": "said no", "field": "tasks[0].row"}
    return lambda handler: handler.reply(code, detail, "application/problem+json", **headers)


def lines_then(rows: list[int], end: Callable[[Handler], None]) -> Step:
    """Verdicts on these, then something else."""

    def step(handler: Handler) -> None:
        handler.begin_lines()
        for index in rows:
            handler.line(verdict(handler, index))
        end(handler)

    return step


class TcpServer(ThreadingMixIn, UnixStreamServer):
    address_family = socket.AF_INET
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def serving(*steps: Step) -> Iterator[Script]:
    """A service on a free port."""
    script = Script(list(steps))
    handler = type("ScriptedHandler", (Handler,), {"script": script})
    with TcpServer(("127.0.0.1", 0), handler) as server:
        script.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
