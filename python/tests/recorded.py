#!/usr/bin/env python3
"""What a SandboxFusion server answered to the requests of `sandbox_fusion.json`, and a tool that asks a live server again.

    python3 python/tests/recorded.py compare URL    prints every difference between the recorded answers and the server's
    python3 python/tests/recorded.py record URL     writes the server's answers into `sandbox_fusion.json`

`test_recorded.py` compares our own service. Each behaviour has a name, our request, and the answer: its status, and its body without what
differs in each call. `varies` names the parts in which two answers of the original to the same request differed, and says how.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

RECORDED = Path(__file__).parent / "sandbox_fusion.json"
#: Longer texts are recorded by length and digest.
LONGEST_TEXT = 400
#: A time, which differs in each call, and the place in the original's own source where an error arose.
VOLATILE = {"execution_time", "traceback"}
#: How long the original takes for the longest request, and some more.
TIMEOUT_SECONDS = 90.0
#: A program's file, whose folder has another name in each call, and the text of `append_flag`, which is random.
PROGRAM_FILE = re.compile(r'(?<=File ")[^"]*(?=")')
FLAG = re.compile(r'(?<=\nprint\(")[0-9A-Za-z]{20}(?="\)$)')


def load() -> dict[str, Any]:
    """The recorded behaviours, by `behaviours`, and the server that they were recorded from, by `server`."""
    found: dict[str, Any] = json.loads(RECORDED.read_text())
    return found


def ask(url: str, request: dict[str, Any]) -> dict[str, Any]:
    """Sends one request. Returns the answer as it is recorded: `status` and `body`."""
    address = urlsplit(url)
    assert address.hostname is not None, f"`{url}` names no host"
    connection = http.client.HTTPConnection(address.hostname, address.port or 80, timeout=TIMEOUT_SECONDS)
    try:
        # ASCII alone, so that a lone surrogate is sent as its escape.
        body = request["text"] if "text" in request else json.dumps(request["json"]) if "json" in request else None
        headers = request.get("headers", {"Content-Type": "application/json"})
        connection.request(request["method"], request["path"], body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    try:
        body = json.loads(text)
    except ValueError:
        body = text
    return {"status": answer.status, "body": without_volatile(body)}


def without_volatile(value: Any) -> Any:
    """A body without times and names of temporary files, and with long texts in short."""
    if isinstance(value, dict):
        return {key: without_volatile(item) for key, item in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [without_volatile(item) for item in value]
    if isinstance(value, str):
        text = FLAG.sub("…", PROGRAM_FILE.sub("…", value))
        if len(text) > LONGEST_TEXT:
            return {"characters": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
        return text
    return value


def differences(recorded: Any, found: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    """Where two answers differ: the recorded value and the found one by path. What one of them lacks is `None`."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        keys = [*recorded, *(key for key in found if key not in recorded)]
        pairs = [(str(key), recorded.get(key), found.get(key)) for key in keys]
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        pairs = [(str(at), *both) for at, both in enumerate(zip(recorded, found, strict=True))]
    else:
        return {} if recorded == found else {path: (recorded, found)}
    inside = (differences(one, other, f"{path}.{key}" if path else key) for key, one, other in pairs)
    return {path: both for found_inside in inside for path, both in found_inside.items()}


def leave_out_varying(answer: dict[str, Any], varies: dict[str, str]) -> None:
    """Replaces the parts of an answer that differ from call to call by what is known about them."""
    for path, note in varies.items():
        *parents, last = path.split(".")
        place = answer
        for key in parents:
            place = place[key] if isinstance(place.get(key), dict) else {}
        place[last] = note


def main(arguments: list[str]) -> None:
    if len(arguments) != 2 or arguments[0] not in ("compare", "record"):
        sys.exit(__doc__)
    command, url = arguments
    recorded = load()
    changed = 0
    for behaviour in recorded["behaviours"]:
        found = ask(url, behaviour["request"])
        leave_out_varying(found, behaviour.get("varies", {}))
        for path, both in differences(behaviour["answer"], found).items():
            changed += 1
            print(behaviour["name"], path, *(json.dumps(value, ensure_ascii=False) for value in both), sep="\t")
        behaviour["answer"] = found
    if command == "record":
        rows = ",\n".join(json.dumps(behaviour) for behaviour in recorded["behaviours"])
        server = json.dumps(recorded["server"])
        RECORDED.write_text(f'{{"server": {server}, "behaviours": [\n{rows}\n]}}\n')
    print(f"{len(recorded['behaviours'])} behaviours, {changed} differences", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
