"""The real program, where there is one, and a service of it."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


@pytest.fixture(scope="session")
def published_file() -> Callable[[str], Path]:
    """Finds a published file, in `VERIPLAY_DATA` or in `shared/data` beside the repository. The tests that need it are skipped without."""

    def find(name: str) -> Path:
        folder = os.environ.get("VERIPLAY_DATA")
        path = (Path(folder) if folder else ROOT.parent / "shared" / "data") / name
        if not path.exists():
            pytest.skip(f"there is no `{path}`; VERIPLAY_DATA names the folder")
        return path

    return find


@pytest.fixture
def openrlhf_agent(monkeypatch: pytest.MonkeyPatch) -> Any:
    """OpenRLHF's agent module, unmodified. The package around it wants torch and deepspeed, so its `__init__` is not run."""
    package = importlib.util.find_spec("openrlhf")
    if package is None or package.submodule_search_locations is None:
        pytest.skip("openrlhf is not installed")
    utils = types.ModuleType("openrlhf.utils")
    utils.__path__ = [f"{package.submodule_search_locations[0]}/utils"]
    monkeypatch.setitem(sys.modules, "openrlhf.utils", utils)
    return importlib.import_module("openrlhf.utils.agent")


class MortalService:
    """A real service at one address, which can be killed and started again there, and whose worker processes can be killed."""

    def __init__(self, binary: str, folder: Path) -> None:
        self.binary, self.folder = binary, folder
        self.url = "http://127.0.0.1:0"
        self.start()

    def start(self) -> None:
        address = self.url.removeprefix("http://")
        command = [self.binary, "serve", "--addr", address, "--workers", "2", "--cache", str(self.folder / "verdicts")]
        with open(self.folder / "stderr", "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url, (self.folder / "stderr").read_text()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def kill_and_start(self) -> None:
        self.kill()
        self.start()

    def kill_workers(self) -> int:
        """Kills the worker processes that run. Returns how many."""
        killed = 0
        for thread in Path(f"/proc/{self.process.pid}/task").iterdir():
            # A thread or a worker may have ended since.
            with contextlib.suppress(OSError):
                for worker in (thread / "children").read_text().split():
                    os.kill(int(worker), signal.SIGKILL)
                    killed += 1
        return killed


@pytest.fixture
def mortal(binary: str, tmp_path: Path) -> Iterator[MortalService]:
    """A service of the test's own, to be killed."""
    service = MortalService(binary, tmp_path)
    yield service
    service.kill()
