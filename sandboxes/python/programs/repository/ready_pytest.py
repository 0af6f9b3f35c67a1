"""Makes pytest ready to run: in a job of its own before any repository is, or in the job that runs one."""


def _ready():
    import importlib
    import os
    import sys

    # The image has a small `pytest` of its own, for test code without a repository.
    sys.modules.pop("pytest", None)
    # The image's own looks for its data beside itself, which is inside an archive: an import of it fails with an error that is
    # no ImportError, which those who ask whether it is there do not expect.
    sys.modules["matplotlib"] = None
    sys.path.insert(0, "/opt/lib")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("getuid", "geteuid"):
        if not hasattr(os, name):
            setattr(os, name, lambda: 0)
    if not hasattr(os, "system"):

        def system(command):
            raise OSError(58, "wasi does not support processes.")

        # Packages name it without calling it.
        os.system = system

    import _pytest.config
    import _pytest.main
    import pytest

    # Before the repository is on the search path: a file of it may be named like one of these.
    for name in _pytest.config.default_plugins:
        importlib.import_module("_pytest." + name)


def _session(argument, plugins, more_options=()):
    """A session of pytest that has begun, for the tests of one file."""
    import _pytest.config
    import _pytest.main

    # No descriptors are duplicated, no signal handlers installed, nothing is written into the tree; the repository's own
    # configuration is not read, since its options may ask for plugins that are not here.
    options = ["--rootdir=/work", "--config-file=/dev/null", "--capture=sys", "--assert=plain", "-q", "--tb=no"]
    for plugin in ("cacheprovider", "faulthandler", "pastebin", "junitxml", "logging", "threadexception", "stepwise"):
        options += ["-p", "no:" + plugin]
    config = _pytest.config._prepareconfig([argument, *options, *more_options], plugins)
    config._do_configure()
    # Nobody reads what it would print of each test.
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    config.hook.pytest_runtest_logreport._remove_plugin(reporter)
    session = _pytest.main.Session.from_config(config)
    config.hook.pytest_sessionstart(session=session)
    return session


