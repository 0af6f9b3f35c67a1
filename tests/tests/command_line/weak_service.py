"""A small service that speaks `/run_code` and a part of `/v1/verify`, for the tests of the probes of services.

`weak_service.py LOG TOKENS [WEAKNESS…]` prints its address and serves until it is killed. Without weaknesses it contains every probe. Each
weakness undoes one defence, as the comments `WEAK:` say. It runs programs with `exec` among names of its own choice, which is no sandbox and needs
none: the programs come from the test.
"""

import gzip
import io
import json
import math
import posixpath
import re
import socket
import sys
import threading
import time
import traceback
import types
from urllib.parse import unquote

LOG, TOKENS, WEAK = sys.argv[1], open(sys.argv[2]).read().split(), set(sys.argv[3:])
BODY_BYTES = 1 << 20
HEAD_BYTES = 1 << 16
DISK_BYTES = 64 << 20
FIELDS = {"code": str, "stdin": (str, type(None)), "language": str, "run_timeout": (int, float), "files": dict, "fetch_files": list}
workers = threading.Semaphore(1 if "keeps_abandoned" in WEAK else 2)
batches = threading.Lock()
places = threading.Semaphore(32)
cache, waiting, last = {}, [0], {"output": "", "body": ""}
broken, disk = [], [0]


class Refusal(Exception):
    def __init__(self, status, detail, close=False):
        self.status, self.detail, self.close = status, detail, close


class Wire:
    """A connection, read under limits of time and size."""

    def __init__(self, connection):
        self.connection, self.buffer, self.has_place = connection, b"", False

    def fill(self, until):
        left = until - time.monotonic()
        if left <= 0:
            raise Refusal(408, "too slow", True)
        self.connection.settimeout(min(left, 60))
        try:
            piece = self.connection.recv(1 << 16)
        except TimeoutError:
            raise Refusal(408, "too slow", True) from None
        if not piece:
            raise ConnectionError("closed")
        self.buffer += piece

    def take(self, count, until):
        while len(self.buffer) < count:
            self.fill(until)
        piece, self.buffer = self.buffer[:count], self.buffer[count:]
        return piece

    def take_line(self, until, most=HEAD_BYTES):
        while b"\r\n" not in self.buffer:
            if len(self.buffer) > most:
                raise Refusal(431, "a line is too long", True)
            self.fill(until)
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def head(self):
        # WEAK: no time limit of heads; no size limit.
        until = time.monotonic() + (3600 if "no_head_time" in WEAK else 1)
        while b"\r\n\r\n" not in self.buffer:
            if len(self.buffer) > HEAD_BYTES and "no_head_limit" not in WEAK:
                raise Refusal(431, "the head is too large", True)
            self.fill(until)
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        parts = first.split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            # WEAK: garbage is an error of the service.
            raise Refusal(500 if "garbage_500" in WEAK else 400, "no HTTP", True)
        headers = []
        for line in lines:
            name, colon, value = line.partition(":")
            # WEAK: blanks around names, and folded lines.
            if "lenient_encodings" in WEAK:
                name = name.strip()
            if not colon or not re.fullmatch(r"[!#-'*+.^-z|~A-Z0-9-]+", name) or re.search(r"[\x00-\x08\x0a-\x1f]", value):
                raise Refusal(400, "a malformed header", True)
            headers.append((name.lower(), value.strip()))
        return parts[0], parts[1], headers

    def body(self, headers):
        # WEAK: a request has one of 32 places before its body has come, and until its answer is sent.
        if "places_for_bodies" in WEAK:
            places.acquire()
            self.has_place = True
        # WEAK: no time limit of bodies, or one that a probe does not wait for; no size limit.
        until = time.monotonic() + (3600 if "no_body_time" in WEAK else 20 if "places_for_bodies" in WEAK else 2)
        most = 1 << 50 if "no_body_limit" in WEAK else BODY_BYTES
        lengths = [value for name, value in headers if name == "content-length"]
        encodings = [value for name, value in headers if name == "transfer-encoding"]
        lenient = "lenient_encodings" in WEAK and any("chunked" in value for value in encodings)
        if encodings and lengths and not lenient and "length_first" not in WEAK:
            raise Refusal(400, "a length and chunks", True)
        # WEAK: of a length and chunks the length counts.
        if encodings and not (lengths and "length_first" in WEAK):
            if encodings != ["chunked"] and not lenient:
                raise Refusal(400, "an unknown encoding", True)
            return self.chunks(until, most)
        # WEAK: of two lengths the first counts.
        if "first_length" in WEAK:
            lengths = [length.split(",")[0] for length in lengths[:1]]
        if len(lengths) > 1 or not all(re.fullmatch(r"[0-9]+", length) for length in lengths):
            raise Refusal(400, "no length", True)
        length = int(lengths[0]) if lengths else 0
        if length > most:
            raise Refusal(413, f"at most {most} bytes", True)
        try:
            return self.take(length, until)
        except ConnectionError:
            # WEAK: what came of a body is the body.
            if "runs_cut_bodies" in WEAK:
                return self.buffer
            raise

    def chunks(self, until, most):
        body = b""
        while True:
            size = self.take_line(until)
            # WEAK: sizes as Python reads them.
            if not re.fullmatch(rb"[0-9a-fA-F]{1,8}", size) and "lenient_chunks" not in WEAK:
                raise Refusal(400, "no size of a chunk", True)
            try:
                size = int(size, 16)
            except ValueError:
                raise Refusal(400, "no size of a chunk", True) from None
            if len(body) + size > most:
                raise Refusal(413, f"at most {most} bytes", True)
            body += self.take(size, until)
            if self.take(2, until) != b"\r\n":
                raise Refusal(400, "no end of a chunk", True)
            if size == 0:
                return body

    def is_open(self):
        try:
            self.connection.settimeout(0)
            return self.connection.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False


def parse(body):
    # WEAK: whatever cannot be read is an error of the service.
    try:
        text = body.decode("utf-8", "replace" if "any_text" in WEAK else "strict")
        if "any_text" not in WEAK and re.search(r"\\ud[89a-f]", text):
            raise ValueError("half a pair")
        # WEAK: the first of two keys counts; NaN is a number.
        pairs = (lambda pairs: dict(reversed(pairs))) if "first_key" in WEAK else unique
        numbers = float if "nan" in WEAK else no_number
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=numbers, strict="any_text" not in WEAK)
    except RecursionError:
        # WEAK: depth ends the connection.
        if "recursion" in WEAK:
            raise ConnectionError("crash") from None
        raise Refusal(422, "too deep") from None
    except ValueError as error:
        raise Refusal(500 if "json_500" in WEAK else 422, f"no JSON: {error}") from None
    if not isinstance(value, dict):
        raise Refusal(422, "no object")
    return value


def unique(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise Refusal(422, f"{key} is given twice")
    return dict(pairs)


def no_number(name):
    raise ValueError(name)


def wrong(field):
    # WEAK: errors do not name the field.
    raise Refusal(422, "a field is wrong" if "unnamed_fields" in WEAK else f"{field} is wrong")


class KeptFile(io.BytesIO):
    """A file that stays on a disk."""

    def write(self, piece):
        disk[0] += len(piece)
        if disk[0] > DISK_BYTES:
            raise OSError("the disk is full")
        return len(piece)


def execute(program, stdin, real_host=False):
    """What the program prints. Loops are short and clocks sleep, so that a test costs no processor."""
    printed, reader = [], io.StringIO(stdin)

    def short_range(*bounds):
        if max(bounds) > 1000:
            time.sleep(0.005)
        return range(*(min(bound, 1000) for bound in bounds))

    def clock():
        time.sleep(0.01)
        return time.time()

    def refuse(*_):
        raise OSError("refused")

    fakes = {
        "os": types.SimpleNamespace(environ={}, getcwd=lambda: "/", listdir=refuse, path=posixpath, uname=str),
        "sys": types.SimpleNamespace(argv=[], path=[], stdin=reader),
        "time": types.SimpleNamespace(time=clock),
    }
    names = {name: getattr(__builtins__, name) for name in ("dict", "filter", "getattr", "len", "repr", "sorted", "str", "sum", "type")}
    # WEAK: files of programs stay.
    opened = (lambda *_: KeptFile()) if "keeps_files" in WEAK else refuse
    names |= {"OSError": OSError, "open": opened, "range": short_range, "input": reader.readline}
    names |= {"print": lambda *values: printed.append(" ".join(map(str, values)) + "\n"), "__import__": lambda name, *_: fakes[name]}
    exec(program, {"__builtins__": names})
    return "".join(printed)


def run_code(wire, request):
    if "code" not in request:
        wrong("code")
    for field, kind in FIELDS.items():
        value = request.get(field)
        if field in request and (not isinstance(value, kind) or isinstance(value, bool)):
            wrong(field)
    seconds = request.get("run_timeout", 10)
    # WEAK: any time limit.
    if not math.isfinite(seconds) and "nan" not in WEAK or seconds > 300 and "no_time_limit" not in WEAK:
        wrong("run_timeout")
    fetched = {}
    # WEAK: files are read and written where their names lead.
    if "follows_paths" in WEAK:
        for path in request.get("fetch_files", []):
            try:
                fetched[path] = open(path).read()
            except OSError:
                pass
    if "writes_paths" in WEAK:
        for path in request.get("files", {}):
            if path.startswith("/"):
                open(path, "w").close()
    if "batch_first" in WEAK and batches.locked():
        with batches:
            time.sleep(0.2)
    ends_its_process = "os._exit" in request["code"]
    # WEAK: a program that ends its process has no answer, or nobody has any more.
    if ends_its_process and "drops_dying" in WEAK:
        raise ConnectionError("its process has ended")
    if broken:
        raise Refusal(500, "the pool of processes is broken")
    if ends_its_process and "broken_pool" in WEAK:
        broken.append(True)
    # WEAK: programs of clients that left are run, in the order in which they came.
    if "keeps_abandoned" in WEAK:
        workers.acquire()
    else:
        while not workers.acquire(timeout=0.01):
            if not wire.is_open():
                raise ConnectionError("left")
    try:
        output = execute(request["code"], request.get("stdin") or "")
    except Exception as error:
        output = f"{type(error).__name__}\n"
    finally:
        workers.release()
    # WEAK: one place for the output of all.
    if "shared_output" in WEAK:
        last["output"] = output
        time.sleep(0.01)
        output = last["output"]
    result = {"status": "Finished", "return_code": 0, "stdout": output, "stderr": ""}
    return {"status": "Success", "message": "", "run_result": result, "files": fetched}


def verify(wire, request):
    if "attempts" not in request:
        wrong("attempts")
    tasks = {}
    for at, task in enumerate(request.get("tasks") or []):
        if not isinstance(task, dict):
            wrong(f"tasks[{at}]")
        problem = (task.get("row") or {}).get("problem")
        if not problem:
            wrong(f"tasks[{at}].row")
        tasks[problem["task_id"]] = problem["checks"]["stdio"]["cases"][0]["stdout"]
    rows = []
    for at, attempt in enumerate(request["attempts"]):
        if attempt.get("task_id") not in tasks or "program" not in attempt:
            wrong(f"attempts[{at}].task_id")
    waiting[0] += len(request["attempts"])
    # WEAK: a batch is judged before anything else.
    guard = batches if "batch_first" in WEAK else threading.Lock()
    with guard:
        for attempt in request["attempts"]:
            rows.append({"status": judge(attempt, tasks[attempt["task_id"]], request.get("limits") or {})})
            waiting[0] -= 1
    return {"verdicts": rows}


def judge(attempt, expected, limits):
    # WEAK: verdicts are kept by the name of the task and the program.
    key = (attempt["task_id"], attempt["program"])
    if "small_key" in WEAK and key in cache:
        return cache[key]
    with workers:
        output = execute(attempt["program"], "").strip()
    status = "accepted" if output == expected else "wrong_answer"
    if limits.get("fuel", 1 << 40) < 10_000_000:
        status = "fuel_exceeded"
    cache[key] = status
    return status


def native_run(wire, request):
    limits = request.get("limits") or {}
    unknown = set(request) - {"program", "limits", "stdin"}
    if unknown:
        wrong(f"unknown {unknown}")
    for field in ("fuel", "memory_bytes"):
        if not isinstance(limits.get(field, 0), int) or limits.get(field, 0) > 1 << 40:
            wrong(f"limits.{field}")
    if not isinstance(request.get("program"), str):
        wrong("program")
    return {"stdout": execute(request["program"], "")}


def tasks(wire, request):
    wrong("tasks")


def info(wire, request):
    # WEAK: facts have the tokens.
    return {"image_digest": "0", "body_bytes": BODY_BYTES, "names": TOKENS if "tells_tokens" in WEAK else []}


POSTS = {"/run_code": run_code, "/v1/verify": verify, "/v1/run": native_run, "/v1/tasks": tasks}
for other in ("/submit", "/get_reward", "/verify"):
    POSTS[other] = lambda wire, request: wrong("dataset")
GETS = {"/v1/info": info, "/metrics": None, "/v1/ping": lambda wire, request: "pong", "/health": lambda wire, request: "alive"}


def check_token(path, headers):
    # WEAK: metrics for all; a path that begins like an open one.
    if path == "/health" or path == "/metrics" and "open_metrics" in WEAK:
        return
    if path.startswith("/health") and "normalises_late" in WEAK:
        return
    given = [value for name, value in headers if name == "authorization"]
    given = given[0].removeprefix("Bearer ") if given and given[0].startswith("Bearer ") else None
    # WEAK: as much as was given is compared.
    part = "part_of_token" in WEAK and given and any(token.startswith(given) for token in TOKENS)
    if given not in TOKENS and not part:
        raise Refusal(401, "no token")


def respond(wire, method, path, headers, body):
    get = dict(headers).get
    check_token(path, headers)
    if "normalises_late" in WEAK:
        path = posixpath.normpath(unquote(path))
    # WEAK: a path is a file; an error has a trace, or what was sent last.
    if "serves_files" in WEAK and method == "GET" and path not in GETS:
        try:
            return open(posixpath.normpath("/" + unquote(path))).read()
        except (OSError, ValueError):
            pass
    if path == "/metrics" and method == "GET":
        return f"veriplay_queue_length {waiting[0]}\n"
    handler = (POSTS if method == "POST" else GETS).get(path)
    if handler is None:
        detail = f"no such path{last['body'] if 'tells_last' in WEAK else ''}"
        raise Refusal(404, "".join(traceback.format_stack()) + "Traceback (most recent call last)" if "traces" in WEAK else detail)
    if method == "GET":
        return json.dumps(handler(wire, {}))
    # WEAK: any type of body; packed bodies.
    if "any_type" not in WEAK and get("content-type") != "application/json":
        raise Refusal(415, "no JSON")
    # WEAK: a stranger's page is a client.
    if get("content-encoding") == "gzip":
        if "unpacks" not in WEAK:
            raise Refusal(415, "encoded")
        body = gzip.decompress(body)
    answer = json.dumps(handler(wire, parse(body)))
    last["body"] = body.decode("utf-8", "replace")
    return answer


def serve_connection(connection):
    wire = Wire(connection)
    # WEAK: an answer that nobody reads is waited for.
    with connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 14)
        keep = True
        while keep:
            path, request_id = "", ""
            try:
                method, path, headers = wire.head()
                request_id = dict(headers).get("x-request-id", "")
                body = wire.body(headers)
                status, answer = 200, respond(wire, method, path, headers, body)
            except Refusal as refusal:
                status, keep = refusal.status, not refusal.close
                answer, body = json.dumps({"detail": refusal.detail}), b""
            except (ConnectionError, TimeoutError):
                return
            with open(LOG, "a") as log:
                # WEAK: programs are logged.
                print(request_id, status, body if "logs_programs" in WEAK else "", file=log)
            # WEAK: the path is repeated in the head, decoded.
            more = f"X-Path: {unquote(path)}\r\n" if "echoes_path" in WEAK else ""
            head = f"HTTP/1.1 {status} x\r\n{more}Content-Length: {len(answer.encode())}\r\n"
            head += "" if keep else "Connection: close\r\n"
            connection.settimeout(1)
            try:
                whole = (head + "\r\n" + answer).encode()
                # The limit is of each piece: some machines take more than a second for two megabytes through a buffer so small.
                for at in range(0, len(whole), 1 << 14):
                    connection.sendall(whole[at : at + (1 << 14)])
            except OSError:
                return
            if wire.has_place:
                wire.has_place = False
                places.release()


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        connection, _ = listener.accept()
        # WEAK: one connection after another.
        if "one_at_a_time" in WEAK:
            serve_connection(connection)
        else:
            threading.Thread(target=serve_connection, args=(connection,), daemon=True).start()


main()
