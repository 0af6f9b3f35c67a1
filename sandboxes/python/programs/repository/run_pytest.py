"""Runs tests of one file of a repository under the real pytest and says what became of each of them.

`run("all", …)` returns every record; `run("some", …, ids)` those of the tests named; `run("one", …, [id])` runs one test, so
that a test which ends the interpreter costs itself and not the others; `run("collect", …)` returns the ids; `run("cover", …)`
every record, and the functions that were entered. Nothing is read from a log: the records come from pytest's reports. `own`
are the names of the package's modules. With `split` the package is in another instance, see `_split`; the records then come with the
names that `import *` took of its modules.

The code under test shares this interpreter. What makes it harder for it to write its own records is best effort: pytest is
imported before anything of the repository and from nowhere else, everything here lives in one closure, and builtins that
could be replaced are bound early. What a frame or the collector can still reach, `veriplay_verifier::bugs` answers.
"""


def _runner():
    import importlib
    import os
    import sys

    max_text = 300
    str_, len_, list_, isinstance_, tuple_, getattr_, hasattr_, set_ = str, len, list, isinstance, tuple, getattr, hasattr, set
    session = None
    broken, reports = [], []
    functions = {}
    tested = crossings = None

    def run(mode, file, roots, wanted, settings, own=(), split=False, starred=None):
        nonlocal tested, crossings
        if session is None:
            if split:
                if "_pytest.main" not in sys.modules:
                    _ready()
                crossings = _split(own, starred)
            if mode == "cover":
                tested = "/work/" + file
                watch()
            start(file, roots, settings, () if split else own)
        if broken:
            return ("broken", broken[0])
        if mode == "collect":
            return ("ids", [item.nodeid for item in session.items])
        items = session.items
        if mode == "some":
            asked = set_(wanted)
            items = [item for item in items if item.nodeid in asked]
        elif mode == "one":
            items = [item for item in items if item.nodeid == wanted[0]]
            if len_(items) != 1:
                return ("broken", "test `" + wanted[0] + "` was collected " + str_(len_(items)) + " times")
        pairs = [(items[at], items[at + 1] if at + 1 < len_(items) else None) for at in range(len_(items))]
        records = [one(item, after) for item, after in pairs]
        if mode == "cover":
            return ("covered", [records, [(name.removeprefix("/work/"), function) for name, function in functions]])
        if crossings is not None:
            return ("split", [records, list_(crossings.starred.items())])
        return ("records", records)

    def start(file, roots, settings, own):
        nonlocal session
        if "_pytest.main" not in sys.modules:
            _ready()
        importlib.invalidate_caches()
        _own_imports(own)

        import _pytest.main

        sys.path[:0] = [os.path.join("/work", root).rstrip("/") for root in roots]
        # The last of all: a dependency stands in for no module of the library, of pytest or of the repository.
        sys.path.append("/opt/dependencies")

        prepared = getattr_(_pytest.main, "_veriplay_prepared", None)
        if prepared is None or has_conftest(os.path, file):
            session = _session(file, [Recorder()], ["--import-mode=" + settings.get("import_mode", "prepend")])
        else:
            session = prepared(file, Recorder())
        if crossings is not None:
            session.config.pluginmanager.register(crossings)
        configure(session.config, settings)
        look_only_at("/work/" + file)
        session.config.hook.pytest_collection(session=session)
        if crossings is not None:
            crossings.collected()

    def configure(config, settings):
        """What of the repository's own configuration holds here, as if a file had said it."""
        for name, value in settings.items():
            if name == "import_mode":
                config.option.importmode = value
            else:
                config._inicache[name] = value

    def look_only_at(file):
        """pytest lists directories down to the file, and makes a node of everything in them."""
        import _pytest.main
        import _pytest.python

        def on_the_way(entry):
            return file == entry.path or file.startswith(entry.path + "/")

        def narrowed(scandir):
            return lambda *args, **kwargs: [entry for entry in scandir(*args, **kwargs) if on_the_way(entry)]

        for module in (_pytest.main, _pytest.python):
            module.scandir = narrowed(module.scandir)

    def has_conftest(path, file):
        """Whether a file of hooks is on the way: pytest reads those before a session begins, so none can be prepared."""
        while file:
            file = path.dirname(file)
            if path.exists(path.join("/work", file, "conftest.py")):
                return True
        return False

    class Recorder:
        def pytest_runtest_logreport(self, report):
            reports.append(report)

        def pytest_collectreport(self, report):
            if report.failed:
                broken.append(text_of(report))
            elif report.skipped:
                broken.append("skipped: " + text_of(report))

    def one(item, after):
        reports.clear()
        if crossings is not None:
            crossings.begin()
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        result, text = "missing", ""
        for report in reports:
            found = word(report)
            # A later phase only makes it worse: a failing teardown is a failure.
            if found != "passed" or (report.when == "call" and result == "missing"):
                result, text = found, text_of(report) if found != "passed" else ""
            if found not in ("passed", "missing"):
                break
        if crossings is not None:
            result, text = crossings.judged(item, result, text)
        return (item.nodeid, result, text, [] if crossings is None else crossings.changes)

    def word(report):
        if hasattr_(report, "wasxfail"):
            return "xfailed" if report.skipped else "xpassed"
        if report.failed:
            return "failed" if report.when == "call" else "error"
        return "skipped" if report.skipped else "passed"

    def text_of(report):
        longrepr = report.longrepr
        if isinstance_(longrepr, tuple_):
            text = str_(longrepr[2])
        else:
            crash = getattr_(longrepr, "reprcrash", None)
            text = str_(longrepr) if crash is None else crash.message
        return text[-max_text:] if crash_less(longrepr) else text[:max_text]

    def crash_less(longrepr):
        """Whether the text is a traceback, whose end says what happened."""
        return not isinstance_(longrepr, tuple_) and getattr_(longrepr, "reprcrash", None) is None

    def watch():
        """From here on `functions` gets each function of the repository that is entered, once."""
        monitoring = sys.monitoring
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "veriplay")

        def enter(code, _offset):
            name = code.co_filename
            if name.startswith("/work/") and name != tested:
                # Not by the code itself: it equals that of the same text on the same lines of another file.
                functions[name, code.co_qualname] = None
            return monitoring.DISABLE

        for event in (monitoring.events.PY_START, monitoring.events.PY_RESUME):
            monitoring.register_callback(monitoring.COVERAGE_ID, event, enter)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.PY_START | monitoring.events.PY_RESUME)

    return run


run = _runner()
del _runner
