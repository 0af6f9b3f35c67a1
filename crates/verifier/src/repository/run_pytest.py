"""Runs one test file of a repository under the real pytest and says what became of each test.

`run("all", …)` returns every record; `run("collect", …)` the ids; `run("one", …, id)` runs one test, so that a test which
ends the interpreter costs itself and not the others. Nothing is read from a log: the records come from pytest's reports.
"""

import os
import sys

MAX_TEXT = 300

session = None
broken = []


def run(mode, file, roots, wanted):
    if session is None:
        start(file, roots)
    if broken:
        return ("broken", broken[0])
    if mode == "collect":
        return ("ids", [item.nodeid for item in session.items])
    if mode == "all":
        items = session.items
    else:
        items = [item for item in session.items if item.nodeid == wanted]
        if len(items) != 1:
            return ("broken", "test `" + wanted + "` was collected " + str(len(items)) + " times")
    return ("records", [one(item, after) for item, after in zip(items, items[1:] + [None])])


def start(file, roots):
    global session
    # The image has a small `pytest` of its own, for test code without a repository.
    sys.modules.pop("pytest", None)
    sys.path[:0] = [os.path.join("/work", root).rstrip("/") for root in roots] + ["/opt/lib"]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("getuid", "geteuid"):
        if not hasattr(os, name):
            setattr(os, name, lambda: 0)

    import _pytest.config
    import _pytest.main

    # No descriptors are duplicated, no signal handlers installed, nothing is written into the tree; the repository's own
    # configuration is not read, since its options may ask for plugins that are not here.
    options = ["--rootdir=/work", "--config-file=/dev/null", "--capture=sys", "--assert=plain", "-q", "--tb=no"]
    for plugin in ("cacheprovider", "faulthandler", "pastebin", "junitxml", "logging", "threadexception", "stepwise"):
        options += ["-p", "no:" + plugin]
    config = _pytest.config._prepareconfig([file] + options, [Recorder()])
    config._do_configure()
    session = _pytest.main.Session.from_config(config)
    config.hook.pytest_sessionstart(session=session)
    config.hook.pytest_collection(session=session)


class Recorder:
    reports = []

    def pytest_runtest_logreport(self, report):
        self.reports.append(report)

    def pytest_collectreport(self, report):
        if report.failed:
            broken.append(text_of(report))
        elif report.skipped:
            broken.append("skipped: " + text_of(report))


def one(item, after):
    Recorder.reports.clear()
    session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
    result, text = "missing", ""
    for report in Recorder.reports:
        found = word(report)
        # A later phase only makes it worse: a failing teardown is a failure.
        if found != "passed" or (report.when == "call" and result == "missing"):
            result, text = found, text_of(report) if found != "passed" else ""
        if found not in ("passed", "missing"):
            break
    return (item.nodeid, result, text)


def word(report):
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    return "skipped" if report.skipped else "passed"


def text_of(report):
    longrepr = report.longrepr
    if isinstance(longrepr, tuple):
        text = str(longrepr[2])
    else:
        crash = getattr(longrepr, "reprcrash", None)
        text = str(longrepr) if crash is None else crash.message
    return text[-MAX_TEXT:] if crash_less(longrepr) else text[:MAX_TEXT]


def crash_less(longrepr):
    """Whether the text is a traceback, whose end says what happened."""
    return not isinstance(longrepr, tuple) and getattr(longrepr, "reprcrash", None) is None
