"""Puts a Python library behind `POST /run_code`, SandboxFusion's protocol, on loopback: a thread for each connection.

`serve(port, run)` calls `run(request)` for each program and expects an `Ending`. It does no more than it must: what is measured is the library.
"""

import json
import socket
import threading
from typing import NamedTuple


class Request(NamedTuple):
    program: str
    stdin: str
    seconds: float
    memory_bytes: int


class Ending(NamedTuple):
    stdout: str
    stderr: str
    # None: a limit of time ended it.
    code: int | None


def serve(port, run):
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=converse, args=(connection, run), daemon=True).start()


def converse(connection, run):
    with connection, connection.makefile("rb") as lines:
        while (body := read_body(lines)) is not None:
            answer = json.dumps(answer_to(json.loads(body), run)).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)


def read_body(lines):
    """The next request's body, or None where the connection has ended."""
    length = 0
    if not lines.readline():
        return None
    while (line := lines.readline().strip()):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return lines.read(length)


def answer_to(ask, run):
    memory = ask.get("memory_limit_MB", 256)
    ending = run(Request(ask["code"], ask.get("stdin") or "", ask.get("run_timeout", 10), memory << 20))
    status = "TimeLimitExceeded" if ending.code is None else "Finished"
    result = {"status": status, "return_code": ending.code, "stdout": ending.stdout, "stderr": ending.stderr}
    return {"status": "Success" if ending.code == 0 else "Failed", "message": "", "run_result": result}
