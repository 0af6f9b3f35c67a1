"""The local server: started once, shared, ended by its last user, started again after a kill."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from veriplay import Client, LocalServerError
from veriplay.local import LocalServer, find_binary, runtime_folder

HERE = Path(__file__).resolve().parent
STAND_IN = HERE / "stand_in.py"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime folder of the test's own, and the stand-in as the program."""
    run = tmp_path / "run"
    monkeypatch.setenv("VERIPLAY_RUNTIME_DIR", str(run))
    monkeypatch.setenv("VERIPLAY_BIN", str(STAND_IN))
    monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "starts"))
    monkeypatch.delenv("VERIPLAY_URL", raising=False)
    return run


@pytest.fixture
def server(folder: Path) -> Iterator[LocalServer]:
    server = LocalServer()
    yield server
    server.release()


def starts(folder: Path) -> int:
    log = folder.parent / "starts"
    return len(log.read_text().splitlines()) if log.exists() else 0


def server_of(endpoint: LocalServer) -> int:
    """The process that answers."""
    with Client(endpoint=endpoint, patience=20.0) as client:
        return int(client.run("").stdout)


def gone(pid: int) -> bool:
    """Whether a process has ended: it is not there, or waits for its parent to ask."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


SCRIPT = textwrap.dedent(
    """
    import sys
    import veriplay
    print(veriplay.run("").stdout, flush=True)
    sys.stdin.read()
    """
)


def start_user(**environment: str) -> subprocess.Popen[str]:
    """Another process that uses the server until its standard input ends."""
    env = {**os.environ, "PYTHONPATH": str(HERE.parent), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    )


def first_line(user: subprocess.Popen[str]) -> str:
    assert user.stdout is not None
    return user.stdout.readline().strip()


def end(user: subprocess.Popen[str]) -> None:
    user.communicate(timeout=60)
    assert user.returncode == 0


def test_it_is_started_on_first_use_and_kept(server: LocalServer, folder: Path) -> None:
    assert starts(folder) == 0
    assert server_of(server) == server_of(server) == server.pid()
    assert starts(folder) == 1
    assert (folder.parent / "starts").read_text().split()[1:3] == ["serve", "--socket"]


def test_a_process_that_never_asks_starts_none(server: LocalServer, folder: Path) -> None:
    server.release()
    assert starts(folder) == 0


def test_its_folder_is_the_users_alone(server: LocalServer, folder: Path) -> None:
    server_of(server)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_others_may_enter_is_refused(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    with pytest.raises(LocalServerError, match="is not yours alone"):
        runtime_folder()


def test_a_link_to_a_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LocalServerError, match="is not yours alone"):
        runtime_folder()


def test_processes_that_begin_at_once_share_one(folder: Path) -> None:
    users = [start_user() for _ in range(8)]
    pids = {first_line(user) for user in users}
    assert len(pids) == 1 and starts(folder) == 1
    for user in users[1:]:
        end(user)
    assert not gone(int(*pids))
    end(users[0])
    assert gone(int(*pids))


def test_the_last_user_ends_it_also_where_another_was_killed(folder: Path) -> None:
    first, second = start_user(), start_user()
    pid = int(first_line(first))
    assert int(first_line(second)) == pid
    first.kill()
    first.communicate()
    assert not gone(pid)
    end(second)
    assert gone(pid)


def test_the_next_call_after_a_kill_starts_another(server: LocalServer, folder: Path) -> None:
    with Client(endpoint=server, patience=20.0) as client:
        pid = int(client.run("").stdout)
        os.kill(pid, signal.SIGKILL)
        assert server._child is not None
        server._child.wait(20)
        assert int(client.run("").stdout) != pid
    assert starts(folder) == 2


def test_another_process_finds_out_about_the_kill_too(server: LocalServer, folder: Path) -> None:
    user = start_user()
    pid = int(first_line(user))
    assert server_of(server) == pid
    os.kill(pid, signal.SIGKILL)
    assert server_of(server) != pid
    end(user)


def test_a_user_that_exits_leaves_the_server_to_the_others(server: LocalServer, folder: Path) -> None:
    pid = server_of(server)
    end(start_user())
    assert server_of(server) == pid and starts(folder) == 1


def test_a_forked_child_neither_ends_it_nor_takes_the_parents_place(server: LocalServer, folder: Path) -> None:
    pid = server_of(server)
    for uses in (False, True):
        child = os.fork()
        if child == 0:
            fine = not uses or server_of(server) == pid
            server.release()
            os._exit(0 if fine else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert not gone(pid)
    assert server_of(server) == pid and starts(folder) == 1


def test_a_child_may_use_it_longer_than_its_parent(folder: Path) -> None:
    server = LocalServer()
    pid = server_of(server)
    go_read, go_write = os.pipe()
    told_read, told_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go_write)
        os.write(told_write, b"used" if server_of(server) == pid else b"lost")
        os.read(go_read, 1)
        fine = server_of(server) == pid
        server.release()
        os._exit(0 if fine else 1)
    os.close(go_read)
    assert os.read(told_read, 4) == b"used"
    server.release()
    assert not gone(pid)
    os.close(go_write)
    assert os.waitpid(child, 0)[1] == 0
    assert gone(pid)


def test_a_server_that_does_not_start_says_why(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_FAILS", "1")
    with pytest.raises(LocalServerError, match=r"(?s)ended with code 1 before.*error: no image\n  hint: build one"):
        server.address()


def test_a_server_that_did_not_start_may_start_later(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_FAILS", "1")
    with pytest.raises(LocalServerError):
        server.address()
    monkeypatch.delenv("STAND_IN_FAILS")
    assert server_of(server) == server.pid()


def test_two_programs_have_two_servers(server: LocalServer, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "veriplay"
    copy.write_text(f"#!{sys.executable}\nimport runpy\nrunpy.run_path({str(STAND_IN)!r}, run_name='__main__')\n")
    copy.chmod(0o755)
    other = LocalServer(binary=str(copy))
    assert server_of(server) != server_of(other)
    other.release()


def test_a_path_too_long_for_a_socket_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(LocalServerError, match="too long for a socket"):
        LocalServer(folder=tmp_path / ("x" * 100))


def test_a_program_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIPLAY_BIN", "/no/such/program")
    with pytest.raises(LocalServerError, match="`VERIPLAY_BIN` is `/no/such/program`"):
        find_binary()


def test_a_missing_program_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("VERIPLAY_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda *_: str(tmp_path))
    with pytest.raises(LocalServerError, match="hint: install the wheel of veriplay"):
        find_binary()
