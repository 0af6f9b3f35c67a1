"""The real program, where there is one, and a service of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "python" / "tests"))


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the developer's own."""
    for name in ("VERIPLAY_TOKEN", "VERIPLAY_TOKEN_FILE", "VERIPLAY_PATIENCE", "VERIPLAY_ON_FAULT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def binary() -> str:
    """The real program: `VERIPLAY_TEST_BIN`. The tests that need it are skipped without."""
    found = os.environ.get("VERIPLAY_TEST_BIN")
    if not found:
        pytest.skip("`VERIPLAY_TEST_BIN` is not set: python/run_tests.sh builds the program and sets it")
    return found


@pytest.fixture(scope="session")
def service(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real service, with two workers and a cache of its own."""
    cache = tmp_path_factory.mktemp("verdicts")
    command = [binary, "serve", "--addr", "127.0.0.1:0", "--workers", "2", "--cache", str(cache)]
    log = open(tmp_path_factory.mktemp("log") / "stderr", "wb")  # noqa: SIM115
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert address, Path(log.name).read_text()
        yield address if "://" in address else f"http://{address}"
        server.terminate()
        assert server.wait(60) == 0
    log.close()


@pytest.fixture
def at_service(service: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same, also as `VERIPLAY_URL`."""
    monkeypatch.setenv("VERIPLAY_URL", service)
    return service
