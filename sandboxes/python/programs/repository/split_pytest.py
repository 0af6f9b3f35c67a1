"""The side of the tests, where the package they test is in another instance.

No code of the package runs here: its modules are proxies, whose functions are called through the host as plain values, the files are
those of the original, and once anything of the package's has come here, nothing runs text or data as code. What is not to be had so, an
object or a class of the package's own, an argument or a result that has no encoding, an exception that ends more than a call, is a
failed crossing. It fails the test, whatever the test catches.

What a test reads of a module was told when that was imported, or after a call: to read it is no message to the package.
"""


def _split(own, starred):
    """From here on the modules below the names `own` are the package's, elsewhere. `starred` are the names that `import *` took of each
    module in the original, or None where this is the original. Returns what a test did there."""
    import builtins
    import collections
    import dataclasses
    import importlib.machinery
    import os
    import sys
    import types

    import _veriplay
    import pytest

    own = frozenset(own)
    known = own & (sys.stdlib_module_names | {name.partition(".")[0] for name in sys.modules})
    stdlib = sys.stdlib_module_names
    if known:
        raise ImportError("the package has a module that is here already: " + ", ".join(sorted(known)))
    # They would end a loop of the test's, not only a call.
    too_much = (StopIteration, StopAsyncIteration)
    # What a test asks these about, the package does elsewhere.
    watchers = frozenset(("capsys", "capsysbinary", "capfd", "capfdbinary", "caplog", "recwarn"))
    functions, exceptions, told, modules = {}, {}, {}, set()
    atoms = (type(None), bool, int, float, complex, str, bytes)
    table = _object_table(1)
    # Fingerprints of the objects that both sides have, by their numbers; those that modules of the package hold, and their names.
    shared, pinned = {}, {}
    # Numbers of what the tests have passed to calls.
    passed = set()

    class FailedCrossing(Exception):
        """What was asked for has no plain value."""

    class Crossings:
        # All calls of a test, and those of the phase that is running.
        calls = in_phase = 0
        phase = "collection"
        failed = before = ""
        # What the package did to the tests' objects and to its names, and when.
        changes, changes_before = [], []
        # Names whose values are not those that were told first, and names that were read.
        moved, read = set(), set()
        # Whether anything of the package's has reached the tests. It never becomes False again.
        has_data = False
        # Whether a file was written from which modules are imported.
        has_written = False
        # What `import *` took of each module.
        starred = {}

        def collected(self):
            self.before, self.changes_before = self.failed, self.changes

        def begin(self):
            self.calls, self.failed, self.changes = 0, self.before, list(self.changes_before)

        def judged(self, item, result, text):
            """What became of a test, whose calls are all it can be judged by."""
            watching = watchers.intersection(getattr(item, "fixturenames", ()))
            if watching:
                return "error", "it asks `" + min(watching) + "` about the package"
            if self.failed:
                return "error", self.failed
            if result == "passed" and not self.calls:
                return "skipped", "it calls no function of the package's by itself"
            return result, text

        def change(self, what):
            if what not in self.changes:
                self.changes.append(what)

        def moment(self):
            """The call under way: of a test its number, since another could change what it may not."""
            return str(self.in_phase) if self.phase == "call" else self.phase

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_setup(self):
            self.phase = "setup"

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_call(self):
            self.phase, self.in_phase = "call", 0

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_teardown(self):
            self.phase = "teardown"

    crossings = Crossings()

    def fail(why):
        crossings.failed = crossings.failed or why
        return FailedCrossing(why)

    def ask(kind, *request, places=types.MappingProxyType({})):
        """What the package answers, with the objects of this side in it."""
        try:
            answer = _veriplay.ask_callee(("call", "serve", [(kind, *request)], {}))
        except Exception as error:
            raise fail("what crosses is no plain value: " + str(error)) from None
        if type(answer) is not tuple or not answer or type(answer[0]) is not str:
            raise fail("an answer that is none")
        check_plain(answer)
        if answer[0] == "none":
            raise fail("`" + ".".join(map(str, request[:2])) + "` cannot cross: " + str(answer[1:]))
        try:
            kind, more, values, numbers, kept, held = answer
            found, _, news = table.resolve(values, iter(numbers), lambda number: changed(number, places))
            tell(news)
            keep(set(kept), set(held), places)
        except (ValueError, TypeError, KeyError) as error:
            raise fail("an answer that is none: " + str(error)) from None
        if kind == "raised":
            crossings.has_data = True
            raise raised(more, found)
        return kind, found

    def changed(number, places):
        """The package has changed an object that the tests have. One that they only read from a module is a value that has changed; one that
        they made, or passed to a call, is theirs, whoever else holds it."""
        names = pinned.get(number, set())
        crossings.moved |= names
        if names & crossings.read:
            crossings.change("value " + ".".join(min(names & crossings.read)))
        if number not in pinned or number % 2 or number in passed:
            crossings.change(crossings.moment() + " " + places.get(number, "an object of another call"))

    def keep(kept, held, places):
        """From here on the sides have those objects in common which the package has kept, or a module of it holds."""
        for number in held:
            pinned.setdefault(number, set())
        table.forget_but(kept | pinned.keys())
        for number in [number for number in shared if number not in table.objects]:
            del shared[number]
        for number in kept | held | (places.keys() & pinned.keys()):
            shared[number] = table.fingerprint(table.objects[number])

    def check_plain(value):
        """A scalar of a library's compares as the library has it: a float16 equals what it cannot tell apart."""
        left = [value]
        while left:
            value = left.pop()
            if type(value) in atoms:
                continue
            if type(value).__module__.partition(".")[0] == "numpy":
                raise fail("a scalar of numpy's is no plain value: " + type(value).__name__)
            if isinstance(value, dict):
                left.extend(value)
                left.extend(value.values())
            elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
                left.extend(value)

    def tell(news):
        """What names of modules stand for. Were an exception asked for when a test expects it, the package would know that the test
        does; were a value asked for, it could give what it was given last."""
        for module, names in news:
            if type(module) is not str or module.partition(".")[0] not in own:
                raise ValueError("a module that is not the package's")
            is_new = module not in modules
            modules.add(module)
            for name, kind in names:
                if type(name) is not str or type(kind) is not tuple or kind[0] not in kinds or len(kind) != kinds[kind[0]]:
                    raise ValueError("a name that stands for nothing")
                is_bound = kind[0] == "module" and (module, name) not in told
                told[module, name] = kind
                if kind[0] == "value":
                    numbers = []
                    table.number(kind[1], numbers)
                    for number in numbers:
                        pinned.setdefault(number, set()).add((module, name))
                # A submodule that is imported is bound in its package.
                if not is_new and not is_bound:
                    crossings.moved.add((module, name))
                    if (module, name) in crossings.read:
                        crossings.change("value " + module + "." + name)

    kinds = {"function": 1, "exception": 2, "module": 2, "value": 2, "missing": 1, "elsewhere": 1}

    def look(module, name):
        answer = told.get((module, name), ("missing",))
        if answer[0] == "missing":
            raise AttributeError("module `" + module + "` has no attribute `" + name + "`")
        crossings.read.add((module, name))
        if (module, name) in crossings.moved:
            crossings.change("value " + module + "." + name)
        if answer[0] == "function":
            return function(module, name)
        if answer[0] == "exception":
            crossings.has_data = True
            try:
                return exception(answer[1])
            except Exception as error:
                raise error if type(error) is FailedCrossing else fail("a class that cannot be made here: " + str(error)) from None
        if answer[0] == "module":
            if type(answer[1]) is not str:
                raise fail("an answer that is none")
            # Any other would be the package's own code, or that of the tests.
            if answer[1].partition(".")[0] not in own | stdlib or answer[1].partition(".")[0] in own and answer[1] not in modules:
                raise fail("`" + module + "." + name + "` is the module `" + answer[1] + "`")
            return importlib.import_module(answer[1])
        if answer[0] == "value":
            crossings.has_data = True
            numbers = []
            table.number(answer[1], numbers)
            # A list has all that is in it in its fingerprint.
            for number in numbers[:1] if type(answer[1]) in table.changing else numbers:
                if number not in shared:
                    shared[number] = table.fingerprint(table.objects[number])
            return answer[1]
        return Elsewhere(module + "." + name)

    def function(module, name):
        def call(*arguments, **keywords):
            crossings.calls += 1
            crossings.in_phase += 1
            kind, found = ask("call", *crossing(module, name, arguments, keywords), places=places_of(module, name, arguments, keywords))
            if kind != "returned":
                raise fail("an answer that is none")
            crossings.has_data = True
            return found

        call.__name__ = call.__qualname__ = name
        return functions.setdefault((module, name), call)

    def crossing(module, name, arguments, keywords):
        """What crosses with a call: the arguments, and what of the objects that the package has too is not as it was."""
        changed = []
        for number, was in list(shared.items()):
            now = table.fingerprint(table.objects[number])
            if now != was:
                shared[number] = now
                changed.append(table.objects[number])
        values, numbers = (arguments, tuple(keywords.values()), tuple(changed)), []
        del changed
        try:
            table.number(values, numbers)
        except ValueError as error:
            raise fail("what crosses is no plain value: " + str(error)) from None
        dropped = table.unreferenced([number for number in shared if number not in pinned]) if shared else []
        for number in dropped:
            del shared[number]
        return module, name, tuple(keywords), values, numbers, dropped

    def places_of(module, name, arguments, keywords):
        """Where the objects are among the arguments, by their numbers."""
        places = {}
        for place, value in (*enumerate(arguments), *keywords.items()):
            if type(value) in table.deep:
                numbers = []
                table.number(value, numbers)
                passed.update(numbers)
                for number in numbers:
                    places.setdefault(number, module + "." + name + " " + str(place))
        return places

    def exception(chain):
        """The class that stands for one of the package's, by the numbers of it and of those it is derived from."""
        number, module, name, *bases = chain[0]
        if number in exceptions:
            return exceptions[number]
        if module == "builtins":
            found = getattr(builtins, name, None)
            if not (isinstance(found, type) and issubclass(found, Exception)) or issubclass(found, too_much):
                raise fail("`" + str(name) + "` ends more than a call")
        else:
            above = {link[0]: chain[at:] for at, link in enumerate(chain) if at}
            found = type(name, tuple(exception(above[base]) for base in bases), {"__str__": lambda self: self.text})
            found.__module__ = module
        exceptions[number] = found
        return found

    def raised(more, arguments):
        try:
            chain, text = more
            kind = exception(chain)
            arguments = tuple(argument(*found) for found in arguments)
            if chain[0][1] != "builtins":
                error = kind.__new__(kind)
                error.args, error.text = arguments, str(text)
                return error
            error = kind(*arguments)
            return error if str(error) == text else fail("an exception that says something else here")
        except Exception as error:
            return error if type(error) is FailedCrossing else fail("an exception that cannot be made here: " + str(error))

    def argument(kind, value, *representation):
        return value if kind == "plain" else Opaque(str(value), *map(str, representation))

    class Elsewhere:
        """What stays where it is: to name it is no harm, to use it is a failed crossing."""

        def __init__(self, name):
            self.__dict__["_name"] = name

        def _used(self, *_arguments, **_keywords):
            raise fail("`" + self._name + "` is an object or a class of the package's")

        __call__ = __setattr__ = __eq__ = __ne__ = __hash__ = __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = _used
        __instancecheck__ = __subclasscheck__ = __enter__ = __exit__ = __mro_entries__ = __str__ = __repr__ = _used

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            self._used()

    class Opaque(Elsewhere):
        """An argument of an exception that stays where it is, but for its texts."""

        def __init__(self, text, representation):
            self.__dict__.update(_name=representation, _text=text)

        def __str__(self):
            return self._text

        def __repr__(self):
            return self._name

        # What `isinstance` asks for.
        __class__ = property(Elsewhere._used)

    class Package(types.ModuleType):
        def __getattr__(self, name):
            if name == "__all__":
                return exported(self.__name__)
            if name.startswith("__") and name != "__version__":
                raise AttributeError(name)
            return look(self.__name__, name)

        def __setattr__(self, name, value):
            if name.startswith("__"):
                super().__setattr__(name, value)
            elif type(value) is not Package:
                raise fail("`" + self.__name__ + "." + name + "` is set")
            # The import system binds a submodule in its package. What the name is there, the package says.

        def __delattr__(self, name):
            raise fail("`" + self.__name__ + "." + name + "` is deleted")

    def exported(module):
        """The names that `import *` takes: those of the original. Another could stand before what the tests mean by it."""
        if starred is not None:
            if module not in starred:
                raise fail("`" + module + "` is asked for its names")
            return [name for name in starred[module] if told.get((module, name), ("missing",))[0] != "missing"]
        listed = told.get((module, "__all__"), ("missing",))
        names = [name for found, name in told if found == module and not name.startswith("_")] if listed[0] != "value" else listed[1]
        crossings.starred[module] = list(names)
        return list(names)

    class Finder:
        """First of all finders, so that nothing of the package is loaded here."""

        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] not in own:
                return None
            if name not in modules:
                if crossings.phase != "collection":
                    crossings.change("import " + name)
                if ask("import", name)[0] != "module" or name not in modules:
                    raise ModuleNotFoundError("No module named `" + name + "`", name=name)
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

        def create_module(self, spec):
            return Package(spec.name)

        def exec_module(self, module):
            pass

    def audit(event, arguments):
        """Text of the package's that is run would be code of the package's beside the tests."""
        if event == "open" or event == "os.rename":
            if is_written_beside_code(event, arguments):
                crossings.has_written = True
        elif crossings.has_data and event in code_events and not is_own_code(event, arguments, frame(1)):
            code = frame(1).f_code
            raise fail("text or data is run as code: " + event + " of `" + code.co_qualname + "`, " + code.co_filename)

    def is_written_beside_code(event, arguments):
        if event == "open":
            path, mode, flags = arguments
            is_writing = set("wax+").intersection(mode) if type(mode) is str else type(flags) is int and flags & write_flags
            if not is_writing:
                return False
        else:
            path = arguments[1]
        # One opened by its number was opened before.
        return type(path) is not int and not os.path.abspath(os.fsdecode(path)).startswith("/tmp/")

    def is_own_code(event, arguments, caller):
        code = caller.f_code
        if event == "exec" and (code.co_filename, code.co_qualname) in makers_of_code:
            return True
        if event == "exec" or event == "function.__new__":
            # The library's, or the tests' as they were.
            path = arguments[0].co_filename
            is_known = path.startswith(library) or path.startswith("/work/") and not crossings.has_written
            return is_known and code.co_filename in (importers if event == "exec" else readers_of_annotations)
        if event == "marshal.loads" and code.co_filename == "<frozen zipimport>":
            return str(caller.f_locals.get("pathname")).startswith(library)
        return False

    frame, write_flags = sys._getframe, os.O_WRONLY | os.O_RDWR | os.O_CREAT
    code_events = frozenset(("exec", "pickle.find_class", "marshal.loads", "code.__new__", "function.__new__"))
    importers = frozenset(("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>"))
    # They run what a function has for its annotations once more, with other names.
    readers_of_annotations = frozenset((collections.__file__.rpartition("/collections/")[0] + "/annotationlib.py",))
    library = (sys.prefix + "/", "/opt/lib/", "/opt/dependencies/")
    # What makes a class by running a text of its own, in which only names are another's.
    makers_of_code = frozenset(
        (
            (collections.namedtuple.__code__.co_filename, "namedtuple"),
            (dataclasses.dataclass.__code__.co_filename, "_FuncBuilder.add_fns_to_class"),
        )
    )
    sys.addaudithook(audit)
    sys.meta_path.insert(0, Finder())
    return crossings


