"""What jobs that run tests find done: pytest imported, and the repository's sources compiled. None of them is executed here."""


_REHEARSAL = '''
import unittest
import pytest

@pytest.fixture
def four():
    yield 4

@pytest.mark.parametrize("number", [1, 2])
def test_number(number, four, tmp_path, monkeypatch):
    assert number < four

class TestClass(unittest.TestCase):
    def test_method(self):
        self.assertRaises(ValueError, int, "x")

def test_that_fails():
    with pytest.raises(ValueError):
        assert [1] == [2]
'''


def _rehearse():
    """Runs a few tests of ours, so that what pytest imports and compiles on its way is there."""
    import os
    import sys

    paths, modules = list(sys.path), set(sys.modules)
    os.mkdir("/tmp/rehearsal")
    file = "/tmp/rehearsal/test_rehearsal.py"
    with open(file, "w") as out:
        out.write(_REHEARSAL)
    session = _session(file, [])
    config = session.config
    config.hook.pytest_collection(session=session)
    items = session.items
    for at, item in enumerate(items):
        config.hook.pytest_runtest_protocol(item=item, nextitem=items[at + 1] if at + 1 < len(items) else None)
    config._ensure_unconfigure()
    assert len(items) == 4
    sys.path[:] = paths
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", None) == file:
            del sys.modules[name]
    os.remove(file)
    os.rmdir("/tmp/rehearsal")


def _prepare():
    """Begins a session, for the first job to go on with whose file has no file of hooks on its way."""
    import sys

    import _pytest.config
    import _pytest.main

    session = _session("/work", [], ["--noconftest"])
    config = session.config
    capturing = config.pluginmanager.get_plugin("capturemanager")
    # It holds this job's streams.
    capturing.stop_global_capturing()

    def prepared(file, plugin):
        capturing.start_global_capturing()
        capturing.suspend_global_capture()
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        reporter._tw = _pytest.config.create_terminal_writer(config, sys.stdout)
        config.args = [file]
        config.pluginmanager.register(plugin)
        return session

    _pytest.main._veriplay_prepared = prepared


def _warm():
    import importlib
    import importlib.machinery
    import os

    for name in _LIBRARY:
        try:
            importlib.import_module(name)
        except Exception:
            # It will be told when a test imports it.
            pass
    compiled = getattr(importlib.machinery.SourceFileLoader, "_veriplay_compiled", None)
    if compiled is None:
        compiled = {}
        compile_now = importlib.machinery.SourceFileLoader.source_to_code

        def source_to_code(self, data, path, *args, **kwargs):
            known = compiled.get((path, data)) if type(data) is bytes and not args and not kwargs else None
            return compile_now(self, data, path, *args, **kwargs) if known is None else known

        importlib.machinery.SourceFileLoader._veriplay_compiled = compiled
        importlib.machinery.SourceFileLoader.source_to_code = source_to_code
        compiled["<runner>", _RUNNER] = compile(_RUNNER, "<runner>", "exec")
        _ready()
        _rehearse()
        _prepare()
    # Compiling takes fuel and memory: a few large packages would take all there is. Those that are left out are compiled when a
    # test imports them.
    room = 12 << 20
    for directory, _, names in (*os.walk("/work"), *os.walk("/opt/dependencies")):
        for path in (os.path.join(directory, name) for name in sorted(names) if name.endswith(".py")):
            with open(path, "rb") as file:
                data = file.read(room + 1)
            if len(data) > room:
                continue
            room -= len(data)
            try:
                compiled[path, data] = compile(data, path, "exec", dont_inherit=True, optimize=-1)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                # It will be told when a test imports it.
                pass


_warm()
# Room, so that ordinary tests need not grow the memory: an instance that grew is thrown away.
_room = bytearray(32 << 20)
del _room
# A collection in a job need not look at what is here, and write to the memory it lies in.
import gc
gc.collect()
gc.freeze()
del gc
