"""The wheels as users install them: packed from the program under test, and installed in a new environment without an index."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="scripts/wheels needs Python 3.11")


def wheels(*arguments: str | Path) -> str:
    command = [sys.executable, str(ROOT / "scripts/wheels"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    # A debug build of the program, and an image that is packed fast, may be larger than what a registry takes.
    assert done.returncode == 0 or "too many for a registry" in done.stderr, done.stderr
    return done.stdout.strip()


def test_the_wheels_install_and_answer(binary: str, tmp_path: Path) -> None:
    program = Path(wheels("build", "--binary", binary, "--out", tmp_path))
    names = zipfile.ZipFile(program).namelist()
    assert "veriplay/py.typed" in names and not any("tests" in name for name in names)
    # The image of this machine, for which nothing has to be compiled.
    image = Path(wheels("image", "--binary", binary, "--cpu", "native", "--level", "1", "--out", tmp_path))
    assert zipfile.ZipFile(image).namelist()[0].endswith(".data/data/share/veriplay/python.tar.zst")
    assert "installed, and answered" in wheels("check", program)
    # With an empty cache and no way to build an image: it is the installed one.
    assert "installed, and answered" in wheels("check", program, image)
    timed = wheels("time", program, image)
    assert [line.split(":")[0] for line in timed.splitlines()] == [
        "pip install",
        "first answer",
        "both",
        "second answer",
        "peak memory of the first answer",
    ]
