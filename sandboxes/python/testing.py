"""Runs test code against a program and says what became of each test. A module of the image, called by the verifier.

Under split trust the program is the job's callee, in another instance, and the two share their objects as `objects.py` says.
What cannot cross is never a fact about the program: it makes the test unjudgeable, whatever the test's code does about it.
Under shared trust the program's source is run here, and the tests see its own objects.

Two things depend on how the tests are read, and are told to the verifier, which then asks for the other reading as well. A
call that returns a value and changes an argument could move what is expected: `assert f(xs) == sorted(xs)` holds for a program
that empties `xs` and returns it. And a name that is a builtin and the program's could be meant as either.
"""

import _symtable
import ast
import builtins
import decimal
import functools
import gc
import importlib
import inspect
import itertools
import marshal
import os
import sys
import time
import types
import typing
import unittest
from operator import is_

import pytest
from _veriplay_objects import (
    ADDRESSES,
    COMPILES,
    CONTAINERS,
    FLAT,
    HASHES,
    NUMPY,
    OF_NUMPY,
    STATE,
    TRIGGERS,
    Caller,
    Function,
    StandIn,
    Uncrossable,
    Unjudgeable,
    asks_object,
    changed_state,
    class_of,
    doubts_of,
    is_library,
    is_once,
    names_any,
    same,
    state_of_process,
    words_of,
)
from _veriplay_inert import is_harmless, is_inert
from _veriplay_skips import Skips
from _veriplay_threads import Deadlock
from _veriplay_wide import compile_program

PASSED, FAILED, ERROR, SKIPPED, MISSING = "passed", "failed", "error", "skipped", "missing"
UNJUDGEABLE, VACUOUS = "unjudgeable", "vacuous"


tests = split = None


def prepare(style, setup, sources, is_split):
    """Reads the tests that are to be run, before there is a program."""
    global tests, split
    tests = TestCode(style, setup, sources, is_split)
    if is_split and tests.fault is None:
        split = Split(tests)


def run(functions, program, readings):
    """Returns (id, result, text) of each test, in order, and which other readings could change them: "changes", "builtins".

    `functions` are the names under test, as far as they are known; `program` is source text under shared trust, or what that was compiled to in
    another instance, else None; `readings` are those of the two that are wanted now.
    """
    pytest.in_tests = True
    if tests.fault is not None:
        return [("tests", UNJUDGEABLE, tests.fault)], []
    if program is not None:
        try:
            return run_shared(tests, functions, program), []
        except pytest.Unsupported as error:
            return [("tests", UNJUDGEABLE, text_of(error))], []
    records = split.run(functions, readings)
    return records, split.other_readings()


def name_of_part(style, index):
    return "<test " + str(index) + ">" if style == "asserts" else "<test>"


class TestCode:
    """Test code, compiled, and what its text says, which is the same for all programs."""

    def __init__(self, style, setup, sources, is_split):
        self.style, self.setup, self.sources = style, setup, sources
        self.parts = {"<setup>": setup, **{name_of_part(style, index): source for index, source in enumerate(sources)}}
        self.code = {}  # by the names of its parts
        self.fault = None  # why it cannot be run, whatever the program is
        depth = sys.getrecursionlimit()
        try:
            if is_split:
                # A sum of a thousand terms is a tree of that depth, which the compiler takes.
                sys.setrecursionlimit(DEPTH_OF_TREES)
                self.read()
        except FAULTS_OF_TEXT as error:
            self.fault = "the tests cannot be read: " + text_of(error)
        finally:
            sys.setrecursionlimit(depth)
        if not is_split or self.fault is not None:
            self.compile()

    def compile(self):
        try:
            self.code = {name: compile_program(source, name, imported=SET_UP) for name, source in self.parts.items()}
        except FAULTS_OF_TEXT as error:
            self.fault = "the tests do not compile: " + text_of(error)

    def read(self):
        """Compiles it with what `Marked` adds."""
        nodes = {name: Nodes(source) for name, source in self.parts.items()}
        texts = list(nodes.values())
        self.names = names_of([self.setup, *self.sources])
        words = {source: words_of(source) for source in self.parts.values()}
        self.words = set().union(*words.values())
        self.is_inert = all(map(is_inert, texts))
        self.imports_all = any(map(imports_all, texts))
        self.imports_solution = any(map(imports_solution, texts))
        self.patches = any(map(patches, texts))
        self.observed = list(itertools.chain.from_iterable(map(observed, texts)))
        self.builtins_used, self.builtins_given = map(set().union, *map(builtins_used, texts))
        self.doubts = set().union(*map(doubts_of, words.keys(), words.values()))
        self.asks_for_identity = any(map(asks_for_identity, texts))
        self.asks_for_addresses = any(map(asks_for_addresses, texts))
        self.sets_a_seed = any(map(sets_a_seed, texts))
        self.looks_into = set().union(*map(looked_into_by, texts))
        self.attributes = set().union(*map(attributes_of, texts))
        for name, source in self.parts.items():
            tree = marked_tree(nodes[name]) if may_be_marked(nodes[name]) else None
            self.code[name] = compile_program(source, name, tree, SET_UP)


# What the set-up imports for the other texts.
SET_UP = ("sys",)
FAULTS_OF_TEXT = SyntaxError, ValueError, RecursionError, MemoryError


def run_shared(tests, functions, program):
    module = new_module("solution")
    own = module.__dict__
    # Code was told before the program had run, and what runs here is the program's anyway.
    exec(marshal.loads(program) if type(program) is bytes else compiled(program), own)
    sys.modules["solution"] = module
    # A prompt's helpers are the tests' own. Its stub of the function under test is not.
    under_test, before = {name: own[name] for name in functions if name in own}, dict(own)
    exec(tests.code["<setup>"], own)
    own.update(under_test)
    # What tests define must not replace what the program defines; assert lines define nothing, and see its names change.
    names = own if tests.style == "asserts" else new_module("tests").__dict__
    if names is not own:
        names.update((name, found) for name, found in own.items() if name not in MODULE_NAMES)
    if tests.style == "check" and functions[0] not in names:
        return [("check", MISSING, "`" + functions[0] + "` is not defined")]
    judged = Judged(None, tests)
    judged.before = before | {name: found for name, found in names.items() if name not in own}
    return STYLES[tests.style](names, functions, judged)


def compiled(program):
    # A file may begin with a mark of its byte order.
    return compile_program(program.removeprefix("\ufeff"), "<program>")


def new_module(name):
    module = types.ModuleType(name)
    module.__file__ = "<tests>"
    sys.modules[name] = module
    return module


MODULE_NAMES = frozenset(vars(types.ModuleType("m"))) | {"__file__", "__builtins__"}


# Split trust.


class Split:
    """Tests in this instance, the program in another."""

    def __init__(self, tests):
        self.tests = tests
        self.caller = Caller()
        self.shadowed = set()  # builtins that the tests use and the program defines too
        self.starred = {}  # what `import *` has bound
        self.hidden = {}  # names of the program's that cannot cross, and why
        self.read = frozenset()  # by the test under way
        self.names = {}  # the tests' module
        own = {CALLED: self.called, TYPE_OF: self.type_of, DICT_OF: self.dict_of, OWNER: self.owner, "__import__": self.imported}
        own |= {"setattr": self.set_attribute, "delattr": self.delete_attribute}
        own |= {GLOBALS: self.globals_of, GLOBAL: self.global_of, STAR: self.import_all}
        self.words = tests.words
        self.caller.read(tests.words)
        self.caller.attributes = tests.attributes
        # Code in a text may name what the tests do not. Names are looked up slower by a class of our own.
        self.view = {**vars(builtins), **own} if self.words.isdisjoint(COMPILES) else View(self, {**vars(builtins), **own})
        self.named, self.used = PeerModule(self), False  # the program as a module, and whether the tests have asked it
        self.namespace, self.in_namespace = {}, ()  # `vars()` of it, and what was in it when it was last filled
        self.in_named = dict(own_dict(self.named))
        self.caller.lend = self.lend
        self.caller.modules_imported = self.modules_imported
        self.importing = True  # a module, which looks at files and at the process for itself; before they are watched nothing is looked at
        self.watches = False  # what the tests change of their process
        self.clock = self.readings = self.collections = 0
        self.modules, self.watched, self.foreign = {}, {}, set()  # those that the tests have put in place themselves
        self.is_prepared, self.meant = False, []  # to watch, and which of the modules that are there the tests may mean
        if not tests.is_inert:
            self.prepare_to_watch()

    def prepare_to_watch(self):
        IMPORTLIB._find_and_load = self.find_and_load
        sys.addaudithook(self.audit)
        gc.callbacks.append(self.count_collection)
        self.watch_process()
        unittest.TestCase.assertLogs = unittest.TestCase.assertNoLogs = self.spoil_logs
        self.is_prepared, self.meant = True, list(filter(self.may_mean, sys.modules))

    def start(self, functions, readings):
        self.functions = functions
        self.caller.unseen, self.prefer_program = "changes" in readings, "builtins" in readings
        names = self.names = new_module("tests").__dict__
        names["__builtins__"], names["__file__"] = self.view, FILE
        sys.modules["solution"] = self.named
        if not self.tests.is_inert:
            self.watch()

    def watch(self):
        """Takes note of everything that a program could not see the tests change, and from now on looks at it at each call. Tests that are
        inert change nothing."""
        if self.watches:
            return
        if not self.is_prepared:
            self.prepare_to_watch()
        self.watches, self.importing = True, False
        self.caller.check_process = self.check_process
        self.clock, self.readings, self.collections = read_clock(), 0, 0
        self.process, self.builtins = state_of_process(), tuple(vars(builtins).values())
        self.modules, self.watched = dict(sys.modules), {name: dict(vars(sys.modules[name])) for name in self.meant}

    def lend(self, place):
        """The program gives the tests what is at that place in their library, with which they may be inert no longer."""
        if not is_harmless(place):
            self.watch()

    def run(self, functions, readings):
        self.start(functions, readings)
        style, names = self.tests.style, self.names
        judged = Judged(self, self.tests)
        try:
            self.resolve(*self.tests.names)
            if style == "asserts" and "locals" in self.words:
                self.caller.note(UNJUDGEABLE, "the tests ask for all names that there are, of which some are the program's")
            judged.before = dict(names)
            if (fault := self.fault_of_set_up(names)) is not None:
                return [("tests", UNJUDGEABLE, fault)]
            if style == "check":
                try:
                    names[self.functions[0]] = self.caller.look(self.functions[0])
                except AttributeError as error:
                    return [("check", MISSING, str(error))]
            records = STYLES[style](names, self.functions, judged)
            if self.watches:
                # What the tests have left behind may still ask the program as it goes.
                names.clear()
                gc.collect()
        except Unjudgeable:
            # Before any test, or between two.
            return [("tests", *self.caller.trouble)]
        except pytest.Unsupported as error:
            return [("tests", UNJUDGEABLE, text_of(error))]
        except BaseException as error:
            self.check_clock()
            if type(error) is NameError and id(error) not in self.caller.handles and (hidden := self.uncrossable_among({error.name})):
                return [("tests", UNJUDGEABLE, hidden[0])]
            if self.caller.lasting is None and self.caller.doubted is None and not is_lacking(error):
                raise
            result = judged.doubted((ERROR, text_of(error)))
            return [("tests", *(self.caller.lasting or (UNJUDGEABLE, result[1])))]
        if not self.tested and not self.used and style != "check":
            why = "the tests name nothing of the program's: name the functions under test, or import them from `solution`"
            records = [(test, VACUOUS, why) if result == PASSED else (test, result, text) for test, result, text in records]
        self.check_clock()
        # A crossing that failed behind the last test is part of none.
        return records if self.caller.lasting is None else [*records, ("tests", *self.caller.lasting)]

    def fault_of_set_up(self, names):
        """Runs it. Where it fails and has nothing of the program's, it fails whatever the program is."""
        asked = self.caller.asked
        try:
            exec(self.tests.code["<setup>"], names)
        except Exception as error:
            read, bound = names_of([self.tests.setup])
            may_have = (read - bound) & (self.own | self.or_builtin)
            if self.caller.asked != asked or type(error) is NameError or may_have:
                raise
            return "the set-up of the tests fails by itself: " + text_of(error)
        return None

    def resolve(self, read, bound):
        """Decides which names that the tests read are the program's, and looks them up.

        A name that is no builtin is. One that is a builtin is where it is named as a function under test, or is all that the
        tests could test.
        """
        self.bound, known, tests = bound, vars(builtins).keys() - NEW_BUILTINS, self.tests
        self.read_anywhere, self.unread = read, {}
        if tests.imports_all:
            # All that the tests have of the program they import.
            read = frozenset()
        free = read - bound - MODULE_NAMES
        self.own = (free - known) | (free & set(self.functions))
        if not self.own and not self.functions and len(free) == 1 and free.isdisjoint(REACHES) and not tests.imports_solution:
            self.own = set(free)
        self.or_builtin = set() if self.functions else free - self.own
        # Names by which the tests can come to the program. Of those that are built in here, nobody knows before the program has told.
        self.tested = self.own - (NEW_BUILTINS - set(self.functions))
        # One that the tests bind, too, is the program's until then.
        self.own |= (read & bound) - known - MODULE_NAMES
        for name in self.own:
            self.view.pop(name, None)
        self.caller.tell_names = self.tell_names
        if tests.patches:
            self.caller.note(UNJUDGEABLE, "the tests patch modules, which the program does not share")
        if not self.words.isdisjoint(LIFETIMES):
            self.caller.note(UNJUDGEABLE, "the tests look at how objects are kept, which is each side's own")
        for found in tests.observed:
            self.caller.note(UNJUDGEABLE, "the tests ask `" + found + "` of the process, which is each side's own")
        used, given = tests.builtins_used, tests.builtins_given
        for label in tests.doubts:
            self.caller.doubt("the tests look at " + label)
        if names_any(self.words, ("partial func",)):
            self.caller.doubt("the tests look into a `partial`, which may hold an object of the program's")
        identities = "id" in used or tests.asks_for_identity or not self.words.isdisjoint(("pickle", "marshal"))
        identities = identities or asks_object(self.words) or "is" in self.words and not self.words.isdisjoint(COMPILES)
        options = ["identities"] * identities + ["random"] * tests.sets_a_seed + ["numpy"] * self.asks_numpy()
        self.caller.modules_named = {name for name in tests.looks_into - bound - set(self.functions) if is_library(name) or name in ABBREVIATIONS}
        self.caller.watch(sorted(self.own | self.or_builtin), options)
        if given or "hash" in used and HASHES in self.caller.words_of_program:
            names = ", ".join(sorted(given or {"hash"}))
            self.caller.doubt("the tests use `" + names + "`, which tells what stands for an object of the program's from that")
        for label in TRIGGERS.named(self.words):
            (self.note_change if label in self.caller.words_of_program else self.doubt_change)(label)
        if "id" in self.words and ADDRESSES in self.caller.words_of_program and tests.asks_for_addresses:
            self.caller.note(UNJUDGEABLE, "both sides look at addresses of objects, which each has its own of")

    def asks_numpy(self):
        """Whether the tests may ask a scalar of numpy's what only that has. A word such as `item` alone says nothing."""
        named = not self.words.isdisjoint(NUMPY)
        if not named and not self.words.isdisjoint(OF_NUMPY):
            named = not OF_NUMPY.isdisjoint(self.tests.attributes)
        self.caller.knows_numpy = named
        return named

    def tell_names(self, told):
        for name, word, found in told:
            self.hidden.pop(name, None)
            if name in self.own and word != "missing":
                self.tested.add(name)
            if name not in self.own:
                if word != "missing":
                    self.shadowed.add(name)
                if not self.prefer_program:
                    continue
                if word != "missing":
                    self.tested.add(name)
            if word == "value":
                self.view[name] = found
            elif word == "missing" and (name not in self.own or name in NEW_BUILTINS - set(self.functions)):
                self.view[name] = vars(builtins)[name]
            else:
                self.view.pop(name, None)
            if word == "uncrossable":
                self.hidden[name] = found
                self.check_hidden()

    def called(self, function, thrown_away, displays, deep):
        """What a call calls of which the source tells more than the call does, see `Marked`."""
        if not (issubclass(type(function), Function) or type(function) is StandIn):
            return function
        handle = self.caller.handles[id(function)]

        def call(*arguments, **keywords):
            fresh = {id(arguments[place] if type(place) is int else keywords[place]) for place in displays}
            todo = [arguments[place] if type(place) is int else keywords[place] for place in deep]
            while todo:
                part = todo.pop()
                if type(part) in CONTAINERS:
                    fresh.add(id(part))
                    parts = (*part, *part.values()) if type(part) is dict else part
                    todo.extend(() if FLAT.issuperset(map(type, parts)) else parts)
            return self.caller.call(handle, arguments, keywords, thrown_away, fresh)

        return call

    def type_of(self, function, found):
        """`type(found)`. Of what stands for an object of the program's, what that has."""
        if function is not type:
            return function(found)
        if issubclass(type(found), Function):
            return class_of(found)
        return {StandIn: type, PeerModule: types.ModuleType}.get(type(found), type(found))

    def dict_of(self, function, found):
        """`vars(found)` or `found.__dict__`."""
        if found is not self.named:
            return found.__dict__ if function is None else function(found)
        self.check_namespace()
        names = {name: self.caller.look(name) for name in dir(found) if name not in MODULE_NAMES - {"__doc__"}}
        self.namespace.clear()
        self.namespace.update({"__name__": "solution"} | names)
        self.in_namespace = (*self.namespace, *self.namespace.values())
        return self.namespace

    def check_namespace(self):
        """What the tests change of the program's names, its module's methods would know nothing of."""
        kept, now = self.in_named, own_dict(self.named)
        if kept.keys() != now.keys() or not alike(kept.values(), now.values()) or not alike(
            self.in_namespace, (*self.namespace, *self.namespace.values())
        ):
            self.caller.spoil(UNJUDGEABLE, "the tests set names of the program", lasting=True)

    def globals_of(self, function):
        """`globals()`. Of one process, the program's names could be among them."""
        if function is globals:
            self.caller.note(UNJUDGEABLE, "the tests ask for all names that there are, of which some are the program's")
            return sys._getframe(1).f_globals
        return function()

    def global_of(self, function, name):
        """`globals()[name]`."""
        found = sys._getframe(1).f_globals if function is globals else function()
        if function is not globals or name in found or name in MODULE_NAMES:
            return found[name]
        self.used = True
        try:
            return self.caller.look(name)
        except AttributeError:
            raise KeyError(name) from None

    def import_all(self):
        """`from solution import *`. Of what the program makes public, the names that the tests read; one that cannot cross is
        missing until they bind it again."""
        names = sys._getframe(1).f_globals
        for name in self.caller.public_names():
            if type(name) is not str:
                raise TypeError("Item in solution.__all__ must be str, not " + type(name).__name__)
            if name not in self.read_anywhere and self.words.isdisjoint(REACHES):
                continue
            # What another `import *` has bound is there to be replaced.
            own = names.get(name, self) if name in self.bound else vars(builtins).get(name, self)
            names.pop(name, None)
            self.used = True
            try:
                found = names[name] = self.caller.borrow(name)
                is_other = own is not self and not same(own, found) and own is not self.starred.get(name, self)
                if is_other and name in self.read_anywhere and name not in self.functions:
                    self.caller.note(UNJUDGEABLE, "`import *` would put the program's `" + name + "` in the place of the tests' own")
                self.starred[name] = found
            except Uncrossable as error:
                self.unread[name] = error.args[0]

    def owner(self, found):
        """An object of which the tests are about to set an attribute."""
        kind = type(found)
        if issubclass(kind, type) and kind is not StandIn:
            module = type.__dict__["__module__"].__get__(found)
            if is_library(module) and module.partition(".")[0] not in TESTING:
                self.note_change("`" + module + "." + found.__qualname__ + "`", lasting=True)
        return found

    def set_attribute(self, found, name, value, /):
        setattr(self.owner(found), name, value)

    def delete_attribute(self, found, name, /):
        delattr(self.owner(found), name)

    def imported(self, name, *arguments, **keywords):
        """What `import` calls. A module is taken note of as it is before the tests can change it."""
        found = import_module(name, *arguments, **keywords)
        if not self.importing:
            self.watch_modules()
        return found

    def find_and_load(self, name, importer, **more):
        """What `import` calls for a module that is not there yet, whoever asks: a library may load a part of itself only when the tests
        look into it. What a module asks and changes of the process as it is made is neither asked nor changed by the tests."""
        if self.importing:
            return find_and_load(name, importer, **more)
        self.check_clock()
        self.watch_modules()
        before = changed_state(self.process)
        self.importing = True
        try:
            return find_and_load(name, importer, **more)
        finally:
            self.importing = False
            now = state_of_process()
            self.process |= {label: now[label] for label in STATE if label not in before}
            self.clock, self.readings, self.collections = read_clock(), 0, 0
            self.watch_modules(by_library=True)

    def modules_imported(self):
        """Something was imported while a call was under way, before which nothing had been changed."""
        self.process = state_of_process()

    def end_test(self):
        self.check_clock()
        try:
            self.check_namespace()
        except Unjudgeable:
            pass
        return self.caller.end_test()

    def start_test(self, sources):
        self.check_clock()
        self.caller.start_test()
        self.read = names_of([self.tests.setup, *sources])[0] if self.own or self.or_builtin or self.unread else frozenset()
        self.check_hidden()

    def check_hidden(self):
        """A test that reads a name which cannot cross is not judged, whatever it does with it."""
        for why in self.uncrossable_among(self.read):
            self.caller.note(UNJUDGEABLE, why)

    def uncrossable_among(self, names):
        unread = self.unread.keys() - self.names.keys()
        found = sorted((names - self.bound) & self.hidden.keys() | names & unread)
        return ["`" + name + "` of the program cannot cross to the tests: " + (self.hidden.get(name) or self.unread[name]) for name in found]

    def note_change(self, what, lasting=False):
        self.caller.note(UNJUDGEABLE, "the tests change " + what + ", which the program does not share", lasting)

    def doubt_change(self, what):
        self.caller.doubt("the tests change " + what + ", which the program does not share")

    def check_process(self):
        self.check_namespace()
        for label in changed_state(self.process):
            if STATE[label][2] or label in self.caller.words_of_program:
                self.note_change(label)
            elif label != "sys.path" or not set(self.process[label]).issubset(sys.path):
                # More places to import from are none to a program that has found its modules.
                self.doubt_change(label)
        if not alike(self.builtins, vars(builtins).values()):
            self.note_change("the built-in functions")
        if not alike(self.modules.values(), sys.modules.values()):
            self.watch_modules()
            for name, module in self.modules.items():
                if sys.modules.get(name) is not module:
                    self.note_change("`" + name + "` of sys.modules")
        for name in self.foreign:
            if name in sys.modules:
                self.note_change("`" + name + "` of sys.modules")
        for name, before in self.watched.items():
            if not alike(before.values(), vars(self.modules[name]).values()):
                self.check_module(name, before, vars(self.modules[name]))

    def check_module(self, name, before, now):
        for key in before.keys() | now.keys():
            old, new = before.get(key, Split), now.get(key, Split)
            if old is new:
                continue
            # What a module itself keeps, and what of the library has been imported since.
            is_kept = key.startswith("_") and (old is Split or type(old) in KEPT) or (name, key) in IN_STATE
            is_imported = type(new) is types.ModuleType or is_library(getattr(new, "__module__", None))
            if is_kept or is_imported and (old is Split or type(old) is LAZY):
                before.pop(key, None)
                if new is not Split:
                    before[key] = new
            else:
                self.note_change("`" + name + "." + key + "`")

    def watch_modules(self, by_library=False):
        """Takes note of modules, and of what is in those that the tests may mean. One that nobody has loaded is foreign, unless a library
        has made it."""
        for name in [name for name in sys.modules if name not in self.modules]:
            module, parent = sys.modules[name], name.rpartition(".")[0]
            if self.modules and not by_library and (not parent or parent in self.foreign) and getattr(module, "__spec__", None) is None:
                self.foreign.add(name)
            if self.may_mean(name):
                self.watched[name] = dict(vars(module))
        self.modules |= sys.modules

    def may_mean(self, name):
        """Whether the tests may mean a module that is there."""
        is_named = name.rpartition(".")[2] in self.words
        return is_named and type(sys.modules[name]) is types.ModuleType and name.partition(".")[0] not in TESTING

    def spoil_logs(self, *_, **__):
        self.caller.spoil(UNJUDGEABLE, "the tests read what is logged, which the program does not share")

    def audit(self, event, arguments):
        """Files are not shared either: one that the tests open is not the program's, whoever has written it."""
        if event == "open":
            self.note_file(arguments[0])

    def note_file(self, path="."):
        if not (self.importing or str(path).startswith(LIBRARY)):
            self.caller.note(UNJUDGEABLE, "the tests look at files, which the program does not share")

    def watch_process(self):
        """Notes what the tests ask of the process: what the program does to its own, they would not see."""

        def noted(owner, name, note):
            function = getattr(owner, name)

            def call(*arguments, **keywords):
                note(*arguments[:1])
                return function(*arguments, **keywords)

            setattr(owner, name, call)

        noted(os, "lstat", lambda path: str(path) in (FILE, os.path.dirname(FILE)) or self.note_file(path))
        for name in filter(vars(os).__contains__, OF_FILES):
            noted(os, name, self.note_file)

        def noted_of_tests(owner, name, what):
            """The library asks for these as well."""
            function = getattr(owner, name)

            def call(*arguments, **keywords):
                if sys._getframe(1).f_globals.get("__builtins__") is self.view:
                    self.note_process(what)
                return function(*arguments, **keywords)

            setattr(owner, name, call)

        for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "sleep"):
            self.note_clock(name)
        for name in ("getcontext", "setcontext", "localcontext"):
            noted_of_tests(decimal, name, "the context of decimals")
        importer = importlib.import_module

        def import_by_name(name, *arguments, **keywords):
            if type(name) is str and not name.startswith("."):
                self.imported(name)
            return importer(name, *arguments, **keywords)

        importlib.import_module = import_by_name
        for name in ("__getitem__", "__setitem__", "__delitem__", "__iter__", "__len__"):
            noted(type(os.environ), name, lambda _: self.note_process("os.environ"))

    def note_clock(self, name):
        """Of the readings of the clock, those that the library makes for itself are no question of the tests'."""
        function = getattr(time, name)

        def call(*arguments, **keywords):
            names = sys._getframe(1).f_globals
            if names.get("__builtins__") is self.view:
                self.note_process("the clock")
            elif names.get("__name__") in OWN_CLOCKS:
                self.readings -= 1
            return function(*arguments, **keywords)

        setattr(time, name, call)

    def count_collection(self, phase, _):
        self.collections += phase == "stop"

    def check_clock(self):
        """Each reading moves the clock on by one step, whoever reads it: what has moved it has been told the time, and the program has
        a clock of its own, which stands still while it computes."""
        if not self.watches:
            return
        now = read_clock()
        self.readings += (now - self.clock) // CLOCK_STEP - 1 - self.collections * READINGS_OF_A_COLLECTION
        self.clock, self.collections = now, 0
        if self.readings:
            self.note_process("the clock")
        self.readings = 0

    def note_process(self, name):
        if not self.importing:
            self.caller.note(UNJUDGEABLE, "the tests look at " + name + ", which the program does not share")

    def other_readings(self):
        return ["changes"] * self.caller.changed + ["builtins"] * bool(self.shadowed)


LIBRARY, FILE = "/usr/local/lib/", "/work/tests.py"
# Names that a program written for another Python does not know as built-in.
NEW_BUILTINS = {"frozendict", "sentinel"}
import_module = builtins.__import__
IMPORTLIB = sys.modules["_frozen_importlib"]
find_and_load = IMPORTLIB._find_and_load
# Modules of the tests' own, which no program is asked about.
TESTING = {"unittest", "pytest", "doctest", "solution", "tests", "program", "builtins", *(name for name in sys.modules if name.startswith("_veriplay"))}
# Of a module's own state, what has these types.
KEPT = {type(None), bool, int, float, str, bytes, tuple, list, dict, set}
# A name that is not imported before it is asked for.
LAZY = getattr(types, "LazyImportType", None)
# What `STATE` compares by what is in it.
IN_STATE = {("sys", name) for name in ("path", "argv", "stdout", "stderr", "stdin", "excepthook", "displayhook", "unraisablehook", "flags")}
# Functions of `os` that tell of files, by name or by descriptor, or change them.
OF_FILES = (
    "stat", "listdir", "scandir", "access", "getcwd", "getcwdb", "remove", "unlink", "rename", "replace", "mkdir", "rmdir", "link", "symlink",
    "readlink", "truncate", "ftruncate", "utime", "chmod", "fstat", "lseek", "read", "write", "pread", "pwrite", "readv", "writev", "close",
    "dup", "dup2", "fsync", "isatty", "statvfs",
)
# All by which names can be reached that the tests' text does not name.
REACHES = COMPILES | {"globals", "locals", "vars", "dir", "__import__"}
# What asks how long objects live, and how they lie in memory.
LIFETIMES = {"weakref", "getrefcount", "get_referrers", "get_referents", "get_objects", "getsizeof", "getallocatedblocks", "tracemalloc"}
LIFETIMES |= {"getattr_static", "getmembers_static", "__subclasses__"}
# What of these tests may name: it is the same on both sides, or is in `STATE`.
SHARED_OF = {
    "gc": {"isenabled", "enable", "disable", "get_threshold", "set_threshold", "get_debug", "set_debug"},
    "sys": {
        "version", "version_info", "hexversion", "api_version", "implementation", "platform", "byteorder", "copyright", "executable",
        "prefix", "flags", "maxsize", "maxunicode", "float_info", "int_info", "hash_info", "float_repr_style", "warnoptions", "intern",
        "stdlib_module_names", "builtin_module_names", "getdefaultencoding", "getfilesystemencoding", "exit", "exc_info", "exception",
        "path", "argv", "stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__", "modules", "meta_path", "path_hooks",
        "getrecursionlimit", "setrecursionlimit", "get_int_max_str_digits", "set_int_max_str_digits", "excepthook", "displayhook",
        "unraisablehook", "breakpointhook", "settrace", "gettrace", "setprofile", "getprofile", "dont_write_bytecode", "_getframe",
    },
}
# Modules that are for looking at the process alone.
OBSERVERS = {"tracemalloc", "resource", "cProfile", "profile", "trace", "bdb", "pdb", "faulthandler"}
# Modules that read the clock for what they keep to themselves.
OWN_CLOCKS = {"unittest.case", "unittest.result", "logging", "random", "tempfile"}
read_clock = time.perf_counter_ns
CLOCK_STEP = -read_clock() + read_clock()
READINGS_OF_A_COLLECTION = (-read_clock() + (gc.collect(), read_clock())[1]) // CLOCK_STEP - 1


def alike(before, now):
    """Whether these are the same objects in the same order."""
    return len(before) == len(now) and all(map(is_, before, now))


class View(dict):
    """The names that tests have beside their own, where code in a text may name more of the program's."""

    def __init__(self, split, found):
        super().__init__(found)
        self.split = split

    def __missing__(self, name):
        try:
            found = self.split.caller.look(name)
        except AttributeError:
            raise KeyError(name) from None
        self.split.used = True
        return found


own_dict = types.ModuleType.__dict__["__dict__"].__get__


class PeerModule(types.ModuleType):
    """The program as a module: `from solution import f`."""

    __class__ = property(lambda self: types.ModuleType)
    __doc__ = property(lambda self: self.__getattr__("__doc__"))
    __dict__ = property(lambda self: own_dict(self)["<split>"].dict_of(None, self))

    def __dir__(self):
        split = own_dict(self)["<split>"]
        split.used = True
        names = split.caller.all_names()
        if "__dir__" in names:
            split.caller.spoil("unjudgeable", "the tests list the names of a program that says itself which they are")
        return names

    def __init__(self, split):
        super().__init__("solution")
        # Under no name that a program would use.
        own_dict(self)["<split>"] = split

    def __getattr__(self, name):
        split = own_dict(self)["<split>"]
        split.used = split.used or not name.startswith("__")
        try:
            return split.caller.look(name)
        except AttributeError as error:
            if error.args == (split.caller.missing(name),):
                raise AttributeError("module 'solution' has no attribute '" + name + "'", name=name, obj=self) from None
            raise

    def __setattr__(self, name, value):
        own_dict(self)["<split>"].caller.spoil(UNJUDGEABLE, "the tests set `" + name + "` of the program")

    def __delattr__(self, name):
        own_dict(self)["<split>"].caller.spoil(UNJUDGEABLE, "the tests delete `" + name + "` of the program")


def names_of(sources):
    """Names that test code reads outside its functions' own, and names that it binds in its module."""
    read, bound = set(), set()
    for source in sources:
        if source not in KNOWN_NAMES:
            found = KNOWN_NAMES[source] = set(), set()
            collect_names(_symtable.symtable(source, "<tests>", "exec"), *found)
        read |= KNOWN_NAMES[source][0]
        bound |= KNOWN_NAMES[source][1]
    return read, bound


KNOWN_NAMES = {}


class Nodes:
    """What test code consists of, by type. It is asked many things about few of them, so the tree is walked once."""

    def __init__(self, source):
        self.tree = ast.parse(source)
        self.by_type = {}
        todo = [self.tree]
        for node in todo:
            self.by_type.setdefault(type(node), []).append(node)
            for name in node._fields:
                part = getattr(node, name, None)
                for item in part if type(part) is list else (part,):
                    if type(item) in LEAVES:
                        self.by_type.setdefault(type(item), []).append(item)
                    elif isinstance(item, ast.AST):
                        todo.append(item)

    def of(self, *kinds):
        return itertools.chain.from_iterable(map(self.by_type.get, kinds, itertools.repeat(())))

    @functools.cached_property
    def names(self):
        """Names that are read or written, asked for behind a dot, or imported from a module."""
        found = {node.id for node in self.of(ast.Name)} | {node.attr for node in self.of(ast.Attribute)}
        return found | {alias.name for node in self.of(ast.ImportFrom) for alias in node.names}


def patches(nodes):
    """Whether test code uses `unittest.mock.patch`."""
    aliases = [alias for node in nodes.of(ast.Import, ast.ImportFrom) for alias in node.names]
    if any(alias.name == "patch" and alias.asname for alias in aliases):
        return True
    names = [node.module or "" for node in nodes.of(ast.ImportFrom)] + [name or "" for alias in aliases for name in (alias.name, alias.asname)]
    return any("mock" in name for name in names) and any(named(node) == "patch" for node in nodes.of(ast.Name, ast.Attribute))


def observed(nodes):
    """What test code asks of the process that nobody shares."""
    known = {name: name for name in SHARED_OF}
    for node in nodes.of(ast.Import):
        known |= {alias.asname: alias.name for alias in node.names if alias.asname and alias.name in SHARED_OF}
        yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in OBSERVERS)
    for node in nodes.of(ast.ImportFrom):
        if node.module is None:
            continue
        if node.module.partition(".")[0] in OBSERVERS:
            yield node.module
        elif node.module in SHARED_OF:
            yield from (node.module + "." + alias.name for alias in node.names if alias.name not in SHARED_OF[node.module])
    statements = {id(node.value.func) for node in nodes.of(ast.Expr) if isinstance(node.value, ast.Call)}
    for node in nodes.of(ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id in known:
            # To collect is fine where nobody asks how much there was.
            is_told = not (node.attr == "collect" and id(node) in statements)
            if node.attr not in SHARED_OF[known[node.value.id]] and is_told:
                yield known[node.value.id] + "." + node.attr


def sets_a_seed(nodes):
    """Whether test code may set the state of `random`, which the program does not share."""
    return not nodes.names.isdisjoint(SEEDS)


SEEDS = {"seed", "setstate", "getstate"}
# Built-in functions that look at an object itself, whatever its class says.
LOOKING = {"id", "hash", "type"}


def builtins_used(nodes):
    """Those of `LOOKING` that test code uses, and those of them that it uses other than by a call of that name, a comparison, or as a class
    to have instances."""
    given = {node.attr for node in nodes.of(ast.Attribute) if node.attr in LOOKING and named(node.value) in ("builtins", "__builtins__")}
    for node in nodes.of(ast.ImportFrom):
        given |= LOOKING & {alias.name for alias in node.names} if node.module == "builtins" else set()
    looking = [node for node in nodes.of(ast.Name) if node.id in LOOKING]
    if looking:
        followed = {id(part) for node in nodes.of(ast.Compare) for part in (node.left, *node.comparators)}
        for node in nodes.of(ast.Call):
            asks = isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass")
            followed |= {id(node.func)} | {id(part) for argument in node.args for part in ast.walk(argument) if asks}
        given |= {node.id for node in looking if id(node) not in followed}
    if any(node.id in COMPILES for node in nodes.of(ast.Name)):
        texts = (node.value for node in nodes.of(ast.Constant) if type(node.value) is str)
        given |= LOOKING & set().union(*map(words_of, texts))
    return {node.id for node in looking} | given, given


def attributes_of(nodes):
    """Words of test code that may name an attribute: those behind a dot or in a text."""
    found = {node.attr for node in nodes.of(ast.Attribute)}.union(*(node.kwd_attrs for node in nodes.of(ast.MatchClass)))
    return found.union(*(words_of(node.value) for node in nodes.of(ast.Constant) if type(node.value) is str))


def named(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


IDENTITIES = {"is_", "is_not", "assertIs", "assertIsNot"}


def asks_for_identity(nodes):
    """Whether test code compares by identity with anything but what there is once, so that strings and numbers need theirs."""
    if not nodes.names.isdisjoint(IDENTITIES):
        return True
    for node in nodes.of(ast.Compare):
        for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators):
            of_type = isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "type"
            if isinstance(op, (ast.Is, ast.IsNot)) and not (of_type or is_once(left) or is_once(right)):
                return True
    return False


def asks_for_addresses(nodes):
    return any(node.id == "id" for node in nodes.of(ast.Name))


def imports_solution(nodes):
    names = {alias.name for node in nodes.of(ast.Import) for alias in node.names} | {node.module for node in nodes.of(ast.ImportFrom)}
    return "solution" in names


def is_star(node):
    return isinstance(node, ast.ImportFrom) and node.module == "solution" and not node.level and node.names[0].name == "*"


# What tests call libraries that are no part of Python's.
ABBREVIATIONS = {"np", "numpy", "pd", "pandas", "scipy", "sympy"}


def looked_into_by(nodes):
    """Names of which the tests ask attributes."""
    return {node.value.id for node in nodes.of(ast.Attribute) if type(node.value) is ast.Name}


def imports_all(nodes):
    return any(map(is_star, nodes.of(ast.ImportFrom)))


def collect_names(table, read, bound):
    """From a table of the compiler's, of which `symtable` would make objects for each name first."""
    of_module, of_class = table.type == _symtable.TYPE_MODULE, table.type == _symtable.TYPE_CLASS
    for name, flags in table.symbols.items():
        scope = flags >> _symtable.SCOPE_OFF & _symtable.SCOPE_MASK
        is_global = scope in (_symtable.GLOBAL_IMPLICIT, _symtable.GLOBAL_EXPLICIT)
        if flags & _symtable.USE and (of_module or is_global or of_class and scope != _symtable.FREE):
            read.add(name)
        if (of_module or scope == _symtable.GLOBAL_EXPLICIT) and flags & (_symtable.DEF_LOCAL | _symtable.DEF_IMPORT):
            bound.add(name)
    for child in table.children:
        collect_names(child, read, bound)


CALLED, TYPE_OF, DICT_OF, OWNER, GLOBALS, GLOBAL, STAR = (
    "<called>", "<type>", "<dict>", "<owner>", "<globals>", "<global>", "<star>"
)
DISPLAYS = ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp


class Marked:
    """Test code that tells what its calls cannot show: which are statements of their own, or asserted to be constants, so that nothing
    more is made of their result, and which arguments are displays, so that nobody else has them; of one made of constants alone nobody has any part."""

    def visit(self, node):
        """What takes the place of `node`. The library's way through a tree takes several times as long."""
        special = self.SPECIAL.get(type(node))
        return self.visit_parts(node) if special is None else special(self, node)

    def visit_parts(self, node):
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, ast.AST):
                if type(part) not in LEAVES:
                    setattr(node, name, self.visit(part))
            elif type(part) is list:
                part[:] = [self.visit(item) if isinstance(item, ast.AST) else item for item in part]
        return node

    def visit_Expr(self, node):
        return mark_statement(self.visit_parts(node))

    def visit_Assert(self, node):
        return mark_assertion(self.visit_parts(node))

    def visit_Call(self, node):
        self.visit_parts(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("type", "vars") and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
            return asked(TYPE_OF if name == "type" else DICT_OF, node, node.func, node.args[0])
        if is_globals(node):
            return asked(GLOBALS, node, node.func)
        return marked(node, thrown_away=False)

    def visit_ImportFrom(self, node):
        return placed(ast.Expr(asked(STAR, node)), node) if is_star(node) else node

    def visit_Subscript(self, node):
        if not is_globals(node.value):
            return self.visit_parts(node)
        node.slice = self.visit(node.slice)
        # What is stored there is the tests' own.
        return asked(GLOBAL, node, node.value.func, node.slice) if isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node):
        self.visit_parts(node)
        if not isinstance(node.ctx, ast.Load):
            node.value = asked(OWNER, node.value, node.value)
        elif node.attr == "__dict__":
            return asked(DICT_OF, node, placed(ast.Constant(None), node), node.value)
        return node

    SPECIAL = {
        ast.Expr: visit_Expr, ast.Assert: visit_Assert, ast.Call: visit_Call, ast.ImportFrom: visit_ImportFrom,
        ast.Subscript: visit_Subscript, ast.Attribute: visit_Attribute,
    }


def mark_statement(node):
    if isinstance(node.value, ast.Call):
        marked(node.value, thrown_away=True)
    return node


def mark_assertion(node):
    """What is compared with constants alone cannot move what is expected of it."""
    if isinstance(node.test, ast.Compare):
        operands = [node.test.left, *node.test.comparators]
        calls = [operand for operand in operands if isinstance(operand, ast.Call)]
        if len(calls) == 1 and all(operand is calls[0] or is_constant(operand) for operand in operands):
            marked(calls[0], thrown_away=True)
    return node


def marked_tree(nodes):
    """The tree of test code, with its marks. Most need no node in place of another, and are marked without a way through all of it."""
    asks = any(type(node.func) is ast.Name and node.func.id in ("type", "vars", "globals") for node in nodes.of(ast.Call))
    if asks or any(map(is_star, nodes.of(ast.ImportFrom))) or any(map(is_asked, nodes.of(ast.Attribute))):
        return Marked().visit(nodes.tree)
    for node in nodes.of(ast.Call):
        marked(node, thrown_away=False)
    for node in nodes.of(ast.Expr):
        mark_statement(node)
    for node in nodes.of(ast.Assert):
        mark_assertion(node)
    return nodes.tree


def is_asked(attribute):
    """Whether another node takes the place of it, or of what it is asked of."""
    return attribute.attr == "__dict__" or type(attribute.ctx) is not ast.Load


def may_be_marked(nodes):
    """Whether `Marked` has anything to change."""
    stars = any(map(is_star, nodes.of(ast.ImportFrom)))
    return stars or any(nodes.of(ast.Call)) or any(map(is_asked, nodes.of(ast.Attribute)))


# These have no parts.
LEAVES = {ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del}


def is_globals(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "globals" and not (node.args or node.keywords)


def placed(made, node):
    """A new node, at the place of another in the text."""
    made.lineno, made.col_offset, made.end_lineno, made.end_col_offset = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
    return made


def asked(name, node, *arguments):
    return placed(ast.Call(placed(ast.Name(name, ast.Load()), node), list(arguments), []), node)


def marked(node, thrown_away):
    """The call, changed in place."""
    if isinstance(node.func, ast.Call) and isinstance(node.func.func, ast.Name) and node.func.func.id == CALLED:
        # As an expression, before its statement.
        node.func.args[1] = placed(ast.Constant(thrown_away), node.func)
        return node
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        places = []
    else:
        places = [*enumerate(node.args), *((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)]
    displays = [place for place, value in places if isinstance(value, DISPLAYS)]
    deep = [place for place, value in places if isinstance(value, (*DISPLAYS, ast.Tuple)) and is_constant(value)]
    if not (thrown_away or displays or deep):
        return node
    told = [placed(ast.Constant(what), node.func) for what in (thrown_away, tuple(displays), tuple(deep))]
    node.func = asked(CALLED, node.func, node.func, *told)
    return node


def is_constant(node):
    if isinstance(node, (ast.List, ast.Set, ast.Tuple)):
        return all(map(is_constant, node.elts))
    if isinstance(node, ast.Dict):
        return None not in node.keys and all(map(is_constant, [*node.keys, *node.values]))
    return isinstance(node, ast.Constant) or isinstance(node, ast.UnaryOp) and is_constant(node.operand)


class Judged:
    """Runs tests; `split` says what kept one from being judged."""

    def __init__(self, split, tests):
        self.split, self.tests = split, tests
        self.before = {}  # what the tests' module has before any of their code has run
        self.skipped = {}  # of each test that was skipped: its function, its class, and whether a mark did it

    def verdict_of(self, test, sources=None):
        """Runs one test; returns its result and a text for people."""
        self.start(sources)
        return self.end(outcome_of(test))

    def start(self, sources=None):
        if self.split is not None:
            self.split.start_test(self.tests.sources if sources is None else sources)

    def end(self, result):
        unsupported = (UNJUDGEABLE, pytest.unsupported[0][:300]) if pytest.unsupported else None
        pytest.unsupported.clear()
        trouble = None if self.split is None else self.split.end_test()
        return trouble or unsupported or self.doubted(result)

    def doubted(self, result):
        """The result, where it is one: what a test that does not pass says of the program, nobody knows where two instances may have shown
        themselves."""
        why = None if self.split is None else self.split.caller.doubted
        if why is None or result[0] not in (FAILED, ERROR):
            return result
        return UNJUDGEABLE, ("it does not pass, and " + why + ": " + result[1])[:300]


def outcome_of(test):
    try:
        finish(test)
    except pytest.Unsupported as error:
        return UNJUDGEABLE, text_of(error)
    except (AssertionError, pytest.Failed) as error:
        return FAILED, text_of(error)
    except (unittest.SkipTest, pytest.Skipped) as error:
        return SKIPPED, text_of(error)
    except BaseException as error:
        return UNJUDGEABLE if is_lacking(error) else ERROR, text_of(error)
    return PASSED, ""


def is_lacking(error):
    """Whether the tests have asked for what no guest has: threads, processes, sockets, a module that is not there, or a name in one of
    the library's. What the program raises is its own."""
    if StandIn.caller is None or id(error) in StandIn.caller.handles:
        return False
    if type(error) is ModuleNotFoundError:
        # The program is there, unless the tests have removed it.
        return type(error.name) is str and error.name.partition(".")[0] not in TESTING - {"solution"}
    if type(error) is AttributeError and type(error.obj) is types.ModuleType:
        return is_library(error.obj.__dict__.get("__name__"))
    if type(error) is AttributeError and isinstance(error.obj, unittest.TestCase):
        return error.name in GONE_FROM_UNITTEST
    return type(error) is OSError and error.errno == LACKING or type(error) is Deadlock


def finish(test):
    """Calls it. A coroutine or generator that comes back has tested nothing yet, and nobody drives it here."""
    if (kind := not_run(test())) is not None:
        raise TypeError("the test returned a " + kind + " and did not run")


def finish_method(test):
    """The same for a test of unittest's, which takes what was never run for a test that has passed, as does pytest."""
    if (kind := not_run(test())) is not None:
        raise pytest.Unsupported("a test of unittest's returned a " + kind + " and did not run")


def not_run(returned):
    """The type of what a test returned, where that would have to be driven."""
    is_lazy = inspect.isawaitable(returned) or inspect.isgenerator(returned) or inspect.isasyncgen(returned)
    return type(returned).__name__ if is_lazy else None


def text_of(error):
    try:
        return (type(error).__name__ + ": " + str(error))[:300]
    except BaseException:
        return type(error).__name__


DEPTH_OF_TREES = 50_000
# Names of assertions that unittest had before Python 3.12.
GONE_FROM_UNITTEST = {
    "assert_", "assertEquals", "assertNotEquals", "assertAlmostEquals", "assertNotAlmostEquals", "assertRegexpMatches",
    "assertNotRegexpMatches", "assertRaisesRegexp", "assertItemsEqual", "assertDictContainsSubset", "failUnless", "failIf",
    "failUnlessEqual", "failIfEqual", "failUnlessAlmostEqual", "failIfAlmostEqual", "failUnlessRaises",
}
LACKING = 58  # the host's word for a call that it does not have


# Styles.


def run_asserts(names, _functions, judged):
    records = []
    for index, source in enumerate(judged.tests.sources):
        code = judged.tests.code[name_of_part("asserts", index)]
        records.append((str(index), *judged.verdict_of(lambda: exec(code, names), [source])))
    return records


def run_check(names, functions, judged):
    candidate = names[functions[0]]
    exec(judged.tests.code["<test>"], names)
    if not callable(names.get("check")):
        return [("check", UNJUDGEABLE, "the tests define no function `check`")]
    # A test that defines the function's name again must still test the program's.
    return [("check", *judged.verdict_of(lambda: names["check"](candidate)))]


def run_functions(names, _functions, judged):
    before, module = judged.before, sys.modules[names["__name__"]]
    exec(judged.tests.code["<test>"], names)
    if type(loader := names.get("load_tests")) is types.FunctionType and loader.__globals__ is names:
        raise pytest.Unsupported("the tests say by `load_tests` which tests there are")
    hook = functools.partial(first_hook, names.get)
    around = SetUp(hook("setUpModule", "setup_module"), hook("tearDownModule", "teardown_module"), module)
    tests = []
    # All that there are are known before the first runs: a test may change what another one's parameters are made of.
    for name, found in list(names.items()):
        if name not in before or before[name] is not found:
            tests.extend(tests_of(name, found, names, around, judged))
    records = [record for run in tests for record in run()]
    if pytest.open_shared_fixtures:
        records += around_records("teardown of fixtures", pytest.end_shared_fixtures, pytest.MODULE, judged)
    records += around.end("teardown_module", judged)
    if pytest.open_shared_fixtures:
        records += around_records("teardown of fixtures", pytest.end_shared_fixtures, pytest.SESSION, judged)
    if unittest.case._module_cleanups:
        records += around_records("clean-up of the module", lambda _: unittest.doModuleCleanups(), None, judged)
    return without_left_out(records, list(judged.tests.parts.values()), judged)


def first_hook(find, *names):
    """The first of these that there is, and that is no fixture."""
    found = (find(name) for name in names)
    return next((hook for hook in found if hook is not None and type(hook) is not pytest.FixtureDefinition), None)


def without_left_out(records, sources, judged):
    """Where another test has passed, one that nobody runs is no part of what the program is judged by. Of one that a mark skips
    otherwise, nobody can say whether the program has a part in that."""
    skipped = [test for test, result, _ in records if result == SKIPPED and test in judged.skipped]
    if not skipped or not any(result == PASSED for _, result, _ in records):
        return records
    skips = Skips(sources)
    left = {test for test in skipped if skips.is_left_out(test, *judged.skipped[test])}
    by_mark = {test for test in skipped if judged.skipped[test][2]}
    kept = [record for record in records if record[0] not in left]
    why = "a mark skips it, and the source does not plainly show that every program would be skipped: "
    return [(test, UNJUDGEABLE, (why + text)[:300]) if result == SKIPPED and test in by_mark else (test, result, text) for test, result, text in kept]


class SetUp:
    """What runs before the first test of a module or a class that is not skipped by a mark, and behind the last."""

    def __init__(self, before, after, argument):
        self.before, self.after, self.argument = before, after, argument
        self.has_run, self.error = False, None

    def __call__(self):
        """Each test that needs it ends as it has ended."""
        if not self.has_run:
            self.has_run = True
            try:
                call_around(self.before, self.argument)
            except BaseException as error:
                self.error = error
        if self.error is not None:
            raise self.error

    def tear_down(self):
        if self.has_run and self.error is None:
            call_around(self.after, self.argument)

    def end(self, label, judged):
        return around_records(label, lambda _: self.tear_down(), None, judged) if self.has_run and self.after is not None else []


def around_records(label, function, argument, judged):
    """Runs what is to run behind tests. It has a record only where it fails."""
    result = judged.verdict_of(lambda: function(argument))
    return [] if result[0] == PASSED else [(label, *result)]


def tests_of(name, found, names, around, judged):
    """What runs the tests that an object is, or has: functions that return records, in the order in which they are to be called."""
    # By `type()`: asking a proxy for its class is a question to the program.
    is_class, is_function = issubclass(type(found), type) and type(found) is not StandIn, type(found) is types.FunctionType
    if is_class and issubclass(found, unittest.TestCase) and found is not unittest.TestCase:
        return [unittest_tests(name, found, around, marks_of_module(names), judged)] if is_collected(found) else []
    if is_class and is_named(name, found, "Test"):
        return class_tests(name, found, names, around, judged, marks_of_module(names))
    # A function of the program's may be named so too.
    if is_function and is_named(name, found, "test") and found.__globals__ is not globals() or is_test_object(name, found):
        return function_tests(name, found, names, around, judged)
    return []


def is_test_object(name, found):
    """Whether pytest takes an object that is no function for a test: one that stands for a function, as a decorator leaves it."""
    kind = type(found)
    if issubclass(kind, (type, types.FunctionType, Function)) or kind is pytest.FixtureDefinition or not callable(found):
        return False
    return is_named(name, found, "test") and type(real_function(found)) is types.FunctionType


def real_function(found):
    """The function that it stands for, as pytest looks for it."""
    for _ in range(100):
        if hasattr(found, "__wrapped__"):
            found = found.__wrapped__
        elif isinstance(found, functools.partial):
            found = found.func
        else:
            break
    return found


def is_named(name, found, prefix):
    return name.startswith(prefix) and getattr(found, "__test__", True) or getattr(found, "__test__", False) is True


def is_collected(owner):
    return getattr(owner, "__test__", True) and not inspect.isabstract(owner)


def marks_of_module(names):
    return pytest.as_marks(names.get("pytestmark", []))


def class_tests(label, owner, names, around, judged, outer):
    """Of its methods, and of the classes in it. One that takes arguments is none of pytest's."""
    if not is_collected(owner) or owner.__init__ is not object.__init__ or owner.__new__ is not object.__new__:
        return []
    tests, marks, hook = [], [*pytest.marks_of(owner), *outer], functools.partial(first_hook, lambda name: getattr(owner, name, None))
    around_class = SetUp(hook("setup_class"), hook("teardown_class"), owner)
    for name in method_names(owner):
        # As it lies in the class: what a descriptor makes of it is no test of pytest's.
        found = None if name.startswith("__") else inspect.getattr_static(owner, name)
        plain = found.__func__ if type(found) in (staticmethod, classmethod) else found
        if issubclass(type(found), type) and type(found) is not StandIn:
            inner = label + "." + name
            if not issubclass(found, unittest.TestCase) and is_named(name, found, "Test"):
                below = class_tests(inner, found, names, around, judged, marks)
            elif issubclass(found, unittest.TestCase) and is_collected(found):
                below = [unittest_tests(inner, found, around, marks, judged)]
            else:
                continue
            if below and any(map(hook, HOOKS)):
                below = [unjudgeable(inner, "this image's pytest runs no set-up of a class around the tests of a class in it")]
            tests.extend(below)
        elif type(plain) is types.FunctionType and is_named(name, plain, "test"):
            tests.extend(method_tests(label, owner, name, names, (around, around_class), judged, marks))
        elif is_test_object(name, plain):
            if isinstance(plain, functools.partial):
                # A method or none, as the version of Python has it.
                tests.append(unjudgeable(label + "." + name, "a test that is a `partial` in a class"))
            else:
                tests.extend(method_tests(label, owner, name, names, (around, around_class), judged, marks))
    return [*tests, lambda: around_class.end(label + ".teardown_class", judged)] if tests else []


def unjudgeable(label, why):
    return lambda: [(label, UNJUDGEABLE, why)]


def method_names(owner):
    """What is in a class, in pytest's order: what it is derived from comes first, without what it replaces."""
    seen, names = set(), []
    for base in owner.__mro__:
        names[:0] = [name for name in vars(base) if name not in seen]
        seen.update(vars(base))
    return names


HOOKS = ("setup_class", "teardown_class", "setup_method", "teardown_method")


class Result(unittest.TestResult):
    """What unittest says of each test of a class. Silence is no success: it must say that a test passed."""

    def __init__(self, judged):
        super().__init__()
        self.judged, self.results = judged, {}
        self.is_open = False  # for a test that unittest begins and ends within what pytest runs around it

    def startTest(self, test):
        if self.is_open:
            return
        super().startTest(test)
        self.judged.start()
        self.succeeded, self.lacking = False, None
        self.found = [len(list) for list in self.lists()]

    def lists(self):
        return self.errors, self.failures, self.unexpectedSuccesses, self.skipped

    def addSuccess(self, test):
        self.succeeded = True

    def addError(self, test, error):
        """Also of what ends tests of pytest's."""
        if issubclass(error[0], (pytest.Skipped, unittest.SkipTest)):
            self.addSkip(test, str(error[1]))
        elif issubclass(error[0], pytest.Failed):
            self.addFailure(test, error)
        elif is_lacking(error[1]):
            self.lacking = text_of(error[1])
        else:
            super().addError(test, error)

    def addExpectedFailure(self, test, error):
        """A test whose failure was expected and came has passed."""
        super().addExpectedFailure(test, error)
        self.succeeded = True

    def stopTest(self, test):
        if self.is_open:
            return
        super().stopTest(test)
        self.results[test._testMethodName] = self.judged.end(self.result_of_test())

    def result_of_test(self):
        errors, failures, unexpected, skipped = (list[found:] for list, found in zip(self.lists(), self.found))
        if self.lacking:
            return UNJUDGEABLE, self.lacking
        if errors:
            return ERROR, last_line(errors[0][1])
        if failures:
            return FAILED, last_line(failures[0][1])
        if unexpected:
            return FAILED, "a failure was expected"
        if skipped:
            return SKIPPED, skipped[0][1][:300]
        return (PASSED, "") if self.succeeded else (ERROR, "the test did not run to its end")


def last_line(text):
    return text.strip().splitlines()[-1][:300]


class Suite(unittest.TestSuite):
    """The tests of one class. What is to run around those of the module runs once, around all."""

    _handleModuleFixture = _handleModuleTearDown = lambda *_: None

    def __init__(self, tests, of_class):
        super().__init__(tests)
        self.of_class = of_class  # what pytest runs within unittest's own set-up of the class

    def _tearDownPreviousClass(self, test, result):
        if test is None:
            try:
                self.of_class.tear_down()
            except BaseException as error:
                self._addClassOrModuleLevelException(result, error, "teardown_class", sys.exc_info())
        super()._tearDownPreviousClass(test, result)


class SetUpByPytest:
    """What pytest runs around unittest's own set-up and clean-up of a class and of each test: `setup_method` and its kind, which
    unittest ignores. A class that is skipped as a whole has none."""

    def __init__(self, case):
        hooks = {name: None if is_skipped(case) else first_hook(lambda name: getattr(case, name, None), name) for name in HOOKS}
        self.before, self.after = hooks["setup_method"], hooks["teardown_method"]
        self.of_class = SetUp(hooks["setup_class"], hooks["teardown_class"], case)
        self.is_none = not any(hooks.values())

    def run(self, test, function, run, result):
        """One test: `run` is unittest's own way. These hooks run around a test that a mark of unittest's skips, too."""
        result.startTest(test)
        result.is_open = True
        try:
            if self.call(test, result, self.of_class) and self.call(test, result, self.before, test, function):
                run(result)
                self.call(test, result, self.after, test, function)
        finally:
            result.is_open = False
            result.stopTest(test)

    def call(self, test, result, hook, *arguments):
        """Whether it ends well. Each hook of a test is given the test, whether or not it takes it."""
        try:
            if hook is not None:
                hook(*arguments)
        except AssertionError:
            result.addFailure(test, sys.exc_info())
        except BaseException:
            result.addError(test, sys.exc_info())
        else:
            return True
        return False


def is_skipped(found):
    return getattr(found, "__unittest_skip__", False)


def unittest_tests(label, case, around, outer, judged):
    found = unittest.defaultTestLoader.getTestCaseNames(case)
    names = [name for name in found if getattr(getattr(case, name), "__test__", True)]
    if not names and callable(getattr(case, "runTest", None)):
        names = ["runTest"]
    hooks, tests = SetUpByPytest(case), []
    # As pytest does it: each test has its object, and its function, before any test has run.
    made = judged.verdict_of(lambda: tests.extend(unittest_test(case, name, hooks) for name in names))
    if made[0] != PASSED:
        return lambda: [(label, *made)]
    return lambda: unittest_records(label, case, tests, hooks, around, outer, judged)


def unittest_test(case, name, hooks):
    test = case(name)
    function = getattr(test, name)
    setattr(test, name, function)
    if case._callTestMethod is unittest.TestCase._callTestMethod:
        test._callTestMethod = finish_method
    if not hooks.is_none:
        test.run = functools.partial(hooks.run, test, function, test.run)
    return test


def unittest_records(label, case, tests, hooks, around, outer, judged):
    records, names = {}, [test._testMethodName for test in tests]
    functions = {test._testMethodName: getattr(test, test._testMethodName) for test in tests}
    for name, function in functions.items():
        # Marks of pytest's, before anything of the class runs.
        marks = [*pytest.marks_of(function), *pytest.marks_of(case), *outer]
        result = judged.verdict_of(lambda: pytest.skip_marked(marks)) if marks else (PASSED, "")
        if result[0] != PASSED:
            records[name] = result
        if result[0] == SKIPPED or is_skipped(case) or is_skipped(function):
            judged.skipped[label + "." + name] = function, case, True
    tests = [test for test in tests if test._testMethodName not in records]
    result = (PASSED, "") if not tests or is_skipped(case) else judged.verdict_of(around)
    if result[0] != PASSED:
        return [(label + "." + name, *records.get(name, result)) for name in names]
    result = Result(judged)
    Suite(tests, hooks.of_class).run(result)
    # What the class's own set-up and clean-up say comes under the class's name.
    of_class = [(error[1], ERROR) for error in result.errors if not isinstance(error[0], unittest.TestCase)]
    of_class += [(skip[1], SKIPPED) for skip in result.skipped if not isinstance(skip[0], unittest.TestCase)]
    missing = (of_class[0][1], last_line(of_class[0][0])) if of_class else (ERROR, "the test did not run")
    records |= {test._testMethodName: result.results.get(test._testMethodName) or judged.doubted(missing) for test in tests}
    for name in names:
        if records[name][0] == SKIPPED:
            judged.skipped.setdefault(label + "." + name, (functions[name], case, False))
    of_class = [(label, *judged.doubted((word, last_line(text)))) for text, word in of_class]
    return [*((label + "." + name, *records[name]) for name in names), *of_class]


def method_tests(label, owner, method, names, around, judged, marks):
    hooks = {name for name in HOOKS if first_hook(lambda name: getattr(owner, name, None), name) is not None}

    def start(instance, test):
        for name in ("setup_method", None, "teardown_method"):
            if name in hooks:
                call_around(getattr(instance, name), test)
            if name is None:
                yield

    def bound():
        instance = owner()
        test = getattr(instance, method)
        return test, functools.partial(start, instance, test)

    wanted = lambda: pytest.method_argument_names(owner, method)
    own = {name: found for base in reversed(owner.__mro__) for name, found in vars(base).items()}
    test = Test(label + "." + method, getattr(owner, method), owner, bound, around)
    return parametrized(test, wanted, [*pytest.marks_of(test.function), *marks], {**names, **own}, judged)


def call_around(function, argument):
    """Set-up and clean-up may take what they are for, or nothing."""
    if function is not None:
        own = hasattr(function, "__func__")
        code = (function.__func__ if own else function).__code__
        function(*[argument] * min(1, code.co_argcount - own))


def function_tests(name, function, names, around, judged):
    before, after = first_hook(names.get, "setup_function"), first_hook(names.get, "teardown_function")

    def start():
        call_around(before, function)
        yield
        call_around(after, function)

    wanted = lambda: pytest.argument_names(function)
    test = Test(name, function, None, lambda: (function, start), (around,))
    return parametrized(test, wanted, [*pytest.marks_of(function), *marks_of_module(names)], names, judged)


class Test(typing.NamedTuple):
    """A test of pytest's, before it is known with which arguments it runs."""

    name: str
    function: object
    owner: object  # its class
    bind: object  # gives what is to be called, for each case anew, and the generator function that runs around it
    around: tuple  # the set-ups of its module and of its class


def parametrized(test, wanted, marks, names, judged):
    """What runs each case of a test."""
    arguments, cases = [], []

    def collect():
        arguments.extend(wanted())
        cases.extend((*case, *test.bind()) for case in pytest.cases_of(arguments, marks, names))

    result = judged.verdict_of(collect)
    if result[0] != PASSED:
        return [lambda: [(test.name, *result)]]
    return [functools.partial(case_records, test, arguments, case, names, judged) for case in cases]


def case_records(test, arguments, case, names, judged):
    label, given, marks, function, start = case
    by_mark = []

    def run():
        try:
            pytest.skip_marked(marks)
        except pytest.Skipped:
            by_mark.append(True)
            raise
        return pytest.call_with_fixtures(function, start, arguments, given, names, test.around)

    result = judged.verdict_of(run)
    if result[0] == SKIPPED:
        judged.skipped[test.name + label] = test.function, test.owner, bool(by_mark)
    return [(test.name + label, *result)]


STYLES = {"asserts": run_asserts, "check": run_check, "functions": run_functions}
