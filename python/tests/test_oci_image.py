"""The container image: the same digests each time, and all that the program needs, as a root of its own shows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A process with this root and `/proc`, as a container has them, and rights over nothing else.
OWN_ROOT = ["unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "--mount-proc"]

pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 9), reason="scripts/oci-image needs Python 3.9"),
    pytest.mark.skipif(not shutil.which("ldd"), reason="scripts/oci-image needs ldd"),
]


def make_archive(binary: str, image: Path, out: Path) -> Path:
    command = [sys.executable, str(ROOT / "scripts/oci-image"), "--binary", binary, "--image", str(image)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run([*command, "--out", str(out)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(out)
    return out


def unpack(archive: Path, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    subprocess.run(["tar", "--extract", "--no-same-owner", "--file", archive, "--directory", folder], check=True)
    return folder


def read_blob(layout: Path, descriptor: dict[str, Any]) -> Any:
    return json.loads((layout / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes())


def read_manifest(layout: Path) -> Any:
    return read_blob(layout, json.loads((layout / "index.json").read_bytes())["manifests"][0])


def test_the_same_files_make_the_same_archive(binary: str, tmp_path: Path) -> None:
    image = tmp_path / "python.tar.zst"
    image.write_bytes(b"an image")
    archives = [make_archive(binary, image, tmp_path / name) for name in ("one.tar", "other.tar")]
    assert archives[0].read_bytes() == archives[1].read_bytes()
    layout = unpack(archives[0], tmp_path / "layout")
    manifest = read_manifest(layout)
    config = read_blob(layout, manifest["config"])
    assert config["config"]["User"] == "65532:65532" and config["created"] == "2023-11-14T22:13:20Z"
    # No shell, interpreter or package manager: nothing but the program can be run.
    root = tmp_path / "root"
    for layer in manifest["layers"]:
        unpack(layout / "blobs" / layer["digest"].replace(":", "/"), root)
    programs = [path.relative_to(root) for path in root.rglob("*") if path.is_file() and ".so" not in path.name]
    documents = [path for path in programs if path.is_relative_to("usr/share")]
    assert [path for path in programs if path not in documents] == [Path("usr/bin/veriplay")]
    assert Path("usr/share/veriplay/python.tar.zst") in documents


def test_the_program_answers_with_nothing_but_the_image(binary: str, tmp_path: Path) -> None:
    if subprocess.run([*OWN_ROOT, "true"], capture_output=True).returncode != 0:
        pytest.skip(
            "this machine does not let a user have a root of their own: `unshare --user --mount-proc true` fails"
        )
    image = tmp_path / "python.tar.zst"
    subprocess.run([binary, "image", "export", "--level", "1", str(image)], check=True, capture_output=True)
    layout = unpack(make_archive(binary, image, tmp_path / "image.tar"), tmp_path / "layout")
    root = tmp_path / "root"
    for layer in read_manifest(layout)["layers"]:
        unpack(layout / "blobs" / layer["digest"].replace(":", "/"), root)
    # A runtime makes the directory that it mounts on.
    (root / "proc").mkdir()
    (root / "hello.py").write_text("print('hello', 6 * 7)\n")
    unshare = [shutil.which("unshare") or "unshare", *OWN_ROOT[1:], "--root", str(root), "/usr/bin/veriplay"]
    done = subprocess.run(
        [*unshare, "run", "/hello.py"], env={"VERIPLAY_CACHE": "/cache"}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "hello 42\n"), done.stderr


def test_a_cache_that_allows_no_code_is_named(binary: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    mount = 'mount -t tmpfs -o "$1" none "$VERIPLAY_CACHE"; exec "$2" doctor --json'
    statuses = []
    for options in ("noexec", "exec"):
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", mount, "sh", options, binary],
            env={**os.environ, "VERIPLAY_CACHE": str(cache)},
            capture_output=True,
            text=True,
        )
        if not done.stdout:
            pytest.skip(f"this machine does not let a user mount: {done.stderr.strip()}")
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        statuses.append((checks["cache"]["status"], "noexec" in checks["cache"]["detail"]))
    assert statuses == [("fail", True), ("ok", False)]
