"""The local server: one for all processes of a user on a machine, on a Unix socket, started on first use.

Its files are in one folder of mode 0700. Their names have a digest of the binary and its settings, so that two versions do not meet.

==================  ==================================================================================================
``NAME.sock``       the socket
``NAME.start``      locked by the process that looks whether the server is there, and starts it
``NAME.users``      locked (shared) by every process that uses it; the last one to exit gets it alone, and ends the server
``NAME.log``        what the server printed
==================  ==================================================================================================

Locks and sockets are the kernel's: whatever is killed, in whatever way, the next call finds out and starts another server. A server whose
users were killed ends by itself after some idle minutes.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import os
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from ._http import Address, ConnectionLost, Connections
from .errors import LocalServerError

__all__ = ["LocalServer", "find_binary", "stop_server"]

#: Seconds without a request after which a server ends whose users did not end it; ``VERIPLAY_IDLE_SECONDS`` overrides.
IDLE_SECONDS = 600
#: Seconds to wait for a server that was started. The first start compiles the Python image, in a minute or two.
START_SECONDS = 900.0
#: Seconds to wait for one that was told to end.
STOP_SECONDS = 5.0
#: Seconds between two looks.
LOOK_SECONDS = 0.02
#: Seconds after which a waiting process says for what it waits.
SILENT_SECONDS = 3.0


def find_binary() -> str:
    """The program ``veriplay``: ``VERIPLAY_BIN``, else the one installed with this package, else the one on ``PATH``.

    Raises:
        LocalServerError: there is none.
    """
    given = os.environ.get("VERIPLAY_BIN")
    if given:
        if not os.access(given, os.X_OK):
            raise LocalServerError(f"`VERIPLAY_BIN` is `{given}`, which is no program that can be run")
        return given
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    beside = Path(__file__).parent.parent / "bin"  # `pip install --target`
    for candidate in [Path(scheme, "veriplay") for scheme in schemes] + [beside / "veriplay"]:
        if os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("veriplay")
    if found is None:
        raise LocalServerError(
            "there is no program `veriplay`\nhint: install the wheel of veriplay, set `VERIPLAY_BIN`, or set `VERIPLAY_URL` to a running service"
        )
    return found


def runtime_folder() -> Path:
    """The folder of sockets: ``VERIPLAY_RUNTIME_DIR``, else in the user's runtime directory, else in the one for temporary files.

    Raises:
        LocalServerError: it belongs to somebody else, or others may enter it.
    """
    if given := os.environ.get("VERIPLAY_RUNTIME_DIR"):
        folder = Path(given)
    elif (runtime := os.environ.get("XDG_RUNTIME_DIR")) and os.access(runtime, os.W_OK):
        folder = Path(runtime, "veriplay")
    else:
        folder = Path(tempfile.gettempdir(), f"veriplay-{os.getuid()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise LocalServerError(
            f"the folder `{folder}` is not yours alone\nhint: remove it, or set `VERIPLAY_RUNTIME_DIR` to a folder of mode 0700"
        )
    return folder


class LocalServer:
    """The local server of this user and binary. It is an endpoint of clients."""

    _shared: LocalServer | None = None
    _shared_lock = threading.Lock()

    def __init__(self, folder: Path | None = None, binary: str | None = None) -> None:
        self._binary = binary or find_binary()
        base = (folder or runtime_folder()) / f"serve-{_identity(self._binary)}"
        self._socket, self._start, self._users, self._log = (
            base.with_suffix(f".{kind}") for kind in ("sock", "start", "users", "log")
        )
        if len(str(self._socket).encode()) > 100:
            raise LocalServerError(
                f"the path `{self._socket}` is too long for a socket\nhint: set `VERIPLAY_RUNTIME_DIR` to a shorter one"
            )
        self._lock = threading.Lock()
        self._ready = False
        self._lease: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        os.register_at_fork(after_in_child=self._after_fork)
        atexit.register(self.release)

    @classmethod
    def shared(cls) -> LocalServer:
        """The one that all clients of this process use."""
        with cls._shared_lock:
            if cls._shared is None:
                cls._shared = cls()
            return cls._shared

    def known(self) -> Address | None:
        """Its address, where it was there when this process last looked."""
        return self._where() if self._ready else None

    def address(self) -> Address:
        """Its address, once it is there: it is started where needed.

        Raises:
            LocalServerError: it does not start.
        """
        with self._lock:
            if not self._ready:
                self._take_lease()
                with _locked(self._start):
                    self._ensure()
                self._ready = True
            return self._where()

    def lost(self) -> None:
        """A connection was lost: the next :meth:`address` looks again."""
        self._ready = False

    def release(self) -> None:
        """This process does not use the server any more. The last one ends it."""
        with self._lock:
            self._ready = False
            lease, self._lease = self._lease, None
            if lease is None:
                return
            with contextlib.suppress(OSError):
                fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._stop()
            os.close(lease)

    def pid(self) -> int | None:
        """The process that listens; ``None`` where nobody does."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(STOP_SECONDS)
            try:
                connection.connect(str(self._socket))
                credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            except OSError:
                return None
        pid: int = struct.unpack("3i", credentials)[0]
        return pid or None

    def _where(self) -> Address:
        return Address("unix", str(self._socket), 0)

    def _take_lease(self) -> None:
        if self._lease is None:
            self._lease = os.open(self._users, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Waits while the last user ends a server.
        fcntl.flock(self._lease, fcntl.LOCK_SH)

    def _ensure(self) -> None:
        """Returns when a server is ready. Only the holder of the start lock is here."""
        begun = time.monotonic()
        said = False
        while (state := self._look()) != 200:
            if state is None and (self._child is None or self._child.poll() is not None):
                if self._child is not None and begun <= self._started:
                    raise LocalServerError(
                        self._failure(f"ended with code {self._child.returncode} before it was ready")
                    )
                self._spawn()
            waited = time.monotonic() - begun
            if waited > START_SECONDS:
                raise LocalServerError(self._failure(f"was not ready after {waited:.0f} s"))
            if waited > SILENT_SECONDS and not said:
                said = True
                print(
                    "veriplay: waiting for the local server; its first start on a machine compiles the Python image",
                    file=sys.stderr,
                )
            time.sleep(LOOK_SECONDS)

    def _look(self) -> int | None:
        """What ``/ready`` answers; ``None`` where nobody listens."""
        connections = Connections(timeout=STOP_SECONDS)
        try:
            with connections.request(self._where(), "GET", "/ready", {}, b"") as reply:
                return reply.status
        except ConnectionLost:
            return None
        finally:
            connections.close()

    def _spawn(self) -> None:
        idle = os.environ.get("VERIPLAY_IDLE_SECONDS", str(IDLE_SECONDS))
        command = [self._binary, "serve", "--socket", str(self._socket), "--idle-exit", idle]
        self._started = time.monotonic()
        with open(self._log, "wb") as log:
            try:
                # A session of its own: Ctrl-C in the user's terminal is not for it.
                self._child = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/"
                )
            except OSError as error:
                raise LocalServerError(f"cannot start `{self._binary}`: {error}") from error

    def _failure(self, what: str) -> str:
        try:
            lines = self._log.read_text(errors="replace").splitlines()[-12:]
        except OSError:
            lines = []
        log = "\n".join(f"  {line}" for line in lines) or "  (nothing)"
        return f"the local server {what}; the end of its log:\n{log}\nhint: try `{self._binary} serve --socket {self._socket}`"

    def _stop(self) -> None:
        """Ends the server, and waits until it has ended."""
        pid = self.pid()
        if pid is None or pid == os.getpid():
            return
        with contextlib.suppress(ProcessLookupError):
            process = os.pidfd_open(pid)
            try:
                signal.pidfd_send_signal(process, signal.SIGTERM)
                ended = select.poll()
                ended.register(process, select.POLLIN)
                ended.poll(STOP_SECONDS * 1000)
            finally:
                os.close(process)
        if self._child is not None:
            self._child.poll()

    def _after_fork(self) -> None:
        """A child shares the parent's open files, its lock among them: it forgets them, and takes its own on first use."""
        self._lock = threading.Lock()
        self._ready = False
        self._child = None
        if self._lease is not None:
            os.close(self._lease)
            self._lease = None


def stop_server() -> None:
    """Ends the local server now, whoever uses it. Their next call starts another."""
    server = LocalServer.shared()
    with _locked(server._start):
        server.lost()
        server._stop()


def _identity(binary: str) -> str:
    """Names the binary, and what of the environment a server of it depends on."""
    real = os.path.realpath(binary)
    found = os.stat(real)
    parts = [real, str(found.st_size), str(found.st_mtime_ns)]
    parts += [os.environ.get(name, "") for name in ("VERIPLAY_CACHE", "VERIPLAY_WHEEL", "XDG_CACHE_HOME")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
