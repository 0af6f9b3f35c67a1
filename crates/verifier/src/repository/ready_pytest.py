"""Makes pytest ready to run: in a job of its own before any repository is, or in the job that runs one."""


def _ready():
    import importlib
    import os
    import sys

    # The image has a small `pytest` of its own, for test code without a repository.
    sys.modules.pop("pytest", None)
    sys.path.insert(0, "/opt/lib")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("getuid", "geteuid"):
        if not hasattr(os, name):
            setattr(os, name, lambda: 0)

    import _pytest.config
    import _pytest.main
    import pytest

    # Before the repository is on the search path: a file of it may be named like one of these.
    for name in _pytest.config.default_plugins:
        importlib.import_module("_pytest." + name)


