"""Libraries that the image has beside the interpreter's: pure Python, from wheels. A module of the image. Their modules are compiled when the
image is made and lie in its memory, in no file."""

import importlib.machinery
import sys

# What modules are compiled to, and whether they are packages, by their full names.
CODE = {}
PLACE = "/usr/local/lib/libraries"


def add(name, is_package, source):
    path = f"{PLACE}/{name.replace('.', '/')}{'/__init__' if is_package else ''}.py"
    CODE[name] = compile(source, path, "exec", 0, True), is_package


class Finder:
    """Finds them, for the list `sys.meta_path`, and loads them."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name not in CODE:
            return None
        code, is_package = CODE[name]
        spec = importlib.machinery.ModuleSpec(name, cls, origin=code.co_filename, is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations.append(code.co_filename.rpartition("/")[0])
        return spec

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        exec(CODE[module.__name__][0], module.__dict__)

    @staticmethod
    def get_code(name):
        return CODE[name][0]

    @staticmethod
    def is_package(name):
        return CODE[name][1]


sys.meta_path.append(Finder)
