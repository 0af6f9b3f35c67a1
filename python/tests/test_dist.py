"""The release's archive and list of licences, without a build."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

DIST = Path(__file__).resolve().parents[2] / "scripts/dist"

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="scripts/dist needs Python 3.11")


@pytest.fixture(scope="module")
def dist() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("dist", str(DIST))
    spec = importlib.util.spec_from_loader("dist", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_same_files_make_the_same_archive_whatever_their_order_times_and_modes(
    dist: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")

    def make(copy: str, names: list[str], mode: int, time: int) -> Path:
        folder = tmp_path / copy / "veriplay-1"
        (folder / "man").mkdir(parents=True)
        for name in names:
            (folder / name).write_text(name)
            os.utime(folder / name, (time, time))
            (folder / name).chmod(mode)
        archive: Path = dist.pack(folder, tmp_path / copy)
        return archive

    one, other = make("one", ["b", "man/a"], 0o664, 5), make("other", ["man/a", "b"], 0o600, 0)
    assert one.read_bytes() == other.read_bytes()
    listing = ["tar", "--list", "--verbose", "--utc", "--file", str(one)]
    lines = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [line.split()[-1] for line in lines] == [
        "veriplay-1/",
        "veriplay-1/b",
        "veriplay-1/man/",
        "veriplay-1/man/a",
    ]
    assert all("0/0" in line and "2023-11-14 22:13" in line for line in lines), lines


def test_the_list_has_what_the_program_links_and_nothing_of_the_tests(dist: ModuleType) -> None:
    text = dist.third_party_licenses("veriplay", dist.NATIVE)
    listed = {line.split()[0] for line in text.splitlines() if ": " in line and len(line.split()) > 2}
    assert {"wasmtime", "candle-core", "axum", "clap_complete", "libsqlite3-sys", "zstd-sys"} <= listed
    assert not listed & {"criterion", "proptest", "libfuzzer-sys", "veriplay-core", "windows-sys"}
    # Of C code that a package carries, too.
    assert "Apache License" in text and "Zstandard" in text


@pytest.mark.parametrize("seconds", ["", "yesterday", "-1"])
def test_a_time_that_is_none_is_refused(dist: ModuleType, monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", seconds)
    monkeypatch.setattr(dist, "run", lambda *_, **__: "no time")
    with pytest.raises(dist.Failure, match="SOURCE_DATE_EPOCH"):
        dist.source_date()
