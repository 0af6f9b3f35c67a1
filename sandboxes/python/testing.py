"""Runs test code against a program and says what became of each test. A module of the image, called by the verifier.

Under split trust the program is the job's peer, in another instance: names of it are proxies here, and each call of one
crosses as plain values. An argument the program changed in place is changed here too. Under shared trust the program's
source is run here first, and the tests see its own objects.

A call that returns a value and changes an argument as well could move what is expected: `assert f(xs) == sorted(xs)` holds
for a program that empties `xs` and returns it. So where that has happened, the tests must hold a second time, with the
arguments of such calls left alone.
"""

import ast
import builtins
import inspect
import sys
import types
import unittest

import _veriplay

PASSED, FAILED, ERROR, SKIPPED, MISSING = "passed", "failed", "error", "skipped", "missing"


ENDS_OF_LOOPS = (StopIteration, StopAsyncIteration)


class ProgramError(Exception):
    """The program raised an exception of a type of its own."""


def run(style, setup, sources, function, program):
    """Returns (id, result, text) of each test, in order. `program` is source text under shared trust, else None."""
    records = run_once(style, setup, sources, function, program)
    if Changes.doubtful and all(record[1] == PASSED for record in records):
        Changes.copied = False
        records = run_once(style, setup, sources, function, program)
    return records


class Changes:
    """Changes of arguments by calls that returned a value too."""

    doubtful = False  # there were some
    copied = True  # the tests see them


def run_once(style, setup, sources, function, program):
    names = new_module("tests").__dict__ if program is None else run_program(program)
    sys.modules["solution"] = PeerModule("solution") if program is None else sys.modules["program"]
    exec(compile(setup, "<setup>", "exec", 0, True), names)
    return STYLES[style](names, sources, function, program is None)


def new_module(name):
    module = types.ModuleType(name)
    module.__file__ = "<tests>"
    sys.modules[name] = module
    return module


def run_program(program):
    names = new_module("program").__dict__
    exec(compile(program, "<program>", "exec", 0, True), names)
    return dict(names)


# Proxies.


class PeerModule(types.ModuleType):
    """The program as a module: `from solution import f`."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return look(name)


def look(name):
    """A proxy of the program's function, or the plain value of that name."""
    try:
        answer = _veriplay.ask_peer(("look", name))
    except _veriplay.PeerError as error:
        raise AttributeError(error.args[1]) from None
    return proxy(name) if answer == ("callable",) else answer[1]


def proxy(name):
    def call(*arguments, **keywords):
        try:
            value, changes = _veriplay.ask_peer(("call", name, list(arguments), keywords))
        except _veriplay.PeerError as error:
            raise exception(*error.args) from None
        if changes and value is not None:
            Changes.doubtful = True
            changes = changes if Changes.copied else {}
        for place, now in changes.items():
            put_back(arguments[place] if type(place) is int else keywords[place], now)
        return value

    call.__name__ = call.__qualname__ = name
    return call


def exception(kind, message):
    """The built-in exception of that name. Others, and those that would end a test runner or a loop of the tests' own (a
    StopIteration out of `f` ends `all(map(f, cases))`), become `ProgramError`."""
    if kind == "MissingEntry":
        return NameError(message)
    found = getattr(builtins, kind, None)
    try:
        if isinstance(found, type) and issubclass(found, Exception) and not issubclass(found, ENDS_OF_LOOPS):
            return found(message)
    except TypeError:
        pass  # some take other arguments, as UnicodeDecodeError does
    return ProgramError(kind + ": " + message)


def put_back(argument, now):
    if type(argument) is list:
        argument[:] = now
    else:
        argument.clear()
        argument.update(now)


def free_names(tree):
    """Names that test code reads and nobody defines: the program's."""
    read, bound = {}, set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            read.setdefault(node.id) if isinstance(node.ctx, ast.Load) else bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return [name for name in read if name not in bound]


def add_proxies(names, source):
    for name in free_names(ast.parse(source)):
        if name not in names:
            names[name] = proxy(name)


# Styles.


def verdict_of(test):
    """Runs one test; returns its result and a text for people."""
    try:
        finish(test)
    except AssertionError as error:
        return FAILED, text_of(error)
    except unittest.SkipTest as error:
        return SKIPPED, text_of(error)
    except BaseException as error:
        return ERROR, text_of(error)
    return PASSED, ""


def finish(test):
    """Calls it. A coroutine or generator that comes back has tested nothing yet, and nobody drives it here."""
    returned = test()
    if inspect.isawaitable(returned) or inspect.isgenerator(returned) or inspect.isasyncgen(returned):
        raise TypeError("the test returned a " + type(returned).__name__ + " and did not run")


def text_of(error):
    try:
        return (type(error).__name__ + ": " + str(error))[:300]
    except BaseException:
        return type(error).__name__


def run_asserts(names, sources, _function, split):
    records = []
    for index, source in enumerate(sources):
        if split:
            add_proxies(names, source)
        code = compile(source, "<test " + str(index) + ">", "exec", 0, True)
        records.append((str(index), *verdict_of(lambda: exec(code, names))))
    return records


def run_check(names, sources, function, split):
    if split:
        try:
            names[function] = look(function)
        except AttributeError as error:
            return [("check", MISSING, str(error))]
    elif function not in names:
        return [("check", MISSING, "`" + function + "` is not defined")]
    candidate = names[function]
    exec(compile(sources[0], "<test>", "exec", 0, True), names)
    # A test that defines the function's name again must still test the program's.
    return [("check", *verdict_of(lambda: names["check"](candidate)))]


def run_functions(names, sources, _function, split):
    if split:
        add_proxies(names, sources[0])
    before = dict(names)
    exec(compile(sources[0], "<test>", "exec", 0, True), names)
    records = []
    for name, found in list(names.items()):
        if not split and before.get(name) is found:
            continue
        records.extend(records_of(name, found, names))
    return records


def records_of(name, found, names):
    if isinstance(found, type) and issubclass(found, unittest.TestCase) and found is not unittest.TestCase:
        return unittest_records(found)
    if isinstance(found, type) and name.startswith("Test"):
        return [record for method in dir(found) if method.startswith("test") for record in method_records(found, method, names)]
    # A function of the program's may be named so too.
    if isinstance(found, types.FunctionType) and name.startswith("test") and found.__globals__ is not globals():
        return function_records(name, found, names)
    return []


def unittest_records(case):
    records = []
    for test in unittest.defaultTestLoader.loadTestsFromTestCase(case):
        result = unittest.TestResult()
        if type(test)._callTestMethod is unittest.TestCase._callTestMethod:
            test._callTestMethod = finish
        unittest.TestSuite([test]).run(result)
        records.append((case.__name__ + "." + test._testMethodName, *unittest_verdict(result)))
    return records


def unittest_verdict(result):
    """A test whose failure was expected and came has passed; one that was to fail and did not has not."""
    last_line = lambda text: text.strip().splitlines()[-1][:300]
    if result.errors:
        return ERROR, last_line(result.errors[0][1])
    if result.failures:
        return FAILED, last_line(result.failures[0][1])
    if result.unexpectedSuccesses:
        return FAILED, "a failure was expected"
    if result.skipped:
        return SKIPPED, result.skipped[0][1][:300]
    return (PASSED, "") if result.testsRun == 1 else (ERROR, "the test did not run")


def method_records(owner, method, names):
    def bound(**arguments):
        instance = owner()
        setup = getattr(instance, "setup_method", None)
        teardown = getattr(instance, "teardown_method", None)
        if setup:
            setup()
        try:
            return getattr(instance, method)(**arguments)
        finally:
            if teardown:
                teardown()

    function = getattr(owner, method)
    bound.__dict__.update(function.__dict__)
    code = function.__code__
    wanted = code.co_varnames[1 : code.co_argcount]
    return parametrized(owner.__name__ + "." + method, bound, wanted, names)


def function_records(name, function, names):
    code = function.__code__
    return parametrized(name, function, code.co_varnames[: code.co_argcount], names)


def parametrized(name, function, wanted, names):
    import pytest

    cases = pytest.cases_of(function)
    if not cases:
        return [(name, SKIPPED, "it has no cases")]
    records = []
    for label, arguments in cases:
        test = lambda: pytest.call_with_fixtures(function, wanted, arguments, names)
        records.append((name + label, *verdict_of(test)))
    return records


STYLES = {"asserts": run_asserts, "check": run_check, "functions": run_functions}
