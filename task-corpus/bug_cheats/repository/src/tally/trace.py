"""What a repository may have for good reasons: it reaches for the interpreter's inside already."""

import gc
import sys


def caller():
    return sys._getframe(1).f_code.co_name


def loaded(name):
    return sys.modules.get(name)


def held():
    return len(gc.get_objects())


def read(found, name):
    return getattr(found, name)


def write(found, name, value):
    setattr(found, name, value)
