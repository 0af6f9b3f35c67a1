"""What is done to modules of the library when a program imports them. A module of the image: it finds them as ever, and calls what the image
has put into `BEFORE` and `AFTER`."""

import importlib.machinery
import sys

# By the name of a module: functions that get it before its code runs, and once it has been imported.
BEFORE, AFTER = {}, {}


class Finder:
    """Finds these modules, for the list `sys.meta_path`."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in AFTER and name not in BEFORE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader, BEFORE.get(name, do_nothing), AFTER.get(name, do_nothing))
        return spec


class Loader:
    """Loads a module as `loader` does, and calls a function with it before its code runs, and another afterwards."""

    def __init__(self, loader, before, after):
        self.loader, self.before, self.after = loader, before, after

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.before(module)
        self.loader.exec_module(module)
        self.after(module)


def do_nothing(module):
    pass


def after_import(name, change):
    """Calls `change` with the module of that name: now if it is there, else when it has been imported."""
    if name in sys.modules:
        change(sys.modules[name])
    else:
        AFTER[name] = change


sys.meta_path.insert(sys.meta_path.index(importlib.machinery.PathFinder), Finder)
