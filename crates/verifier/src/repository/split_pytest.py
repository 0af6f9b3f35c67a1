"""The side of the tests, where the package they test is in another instance.

No code of the package runs here: its modules are proxies, whose functions are called through the host as plain values, the files are
those of the original, and a test may not run text or data as code once it has called a function. What is not to be had so, an object or
a class of the package's own, an argument or a result that has no encoding, an exception that ends more than a call, is a failed
crossing. It fails the test, whatever the test catches.
"""


def _split(own):
    """From here on the modules below the names `own` are the package's, elsewhere. Returns what a test did there."""
    import builtins
    import collections
    import dataclasses
    import importlib.machinery
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
    functions, exceptions, told = {}, {}, {}
    atoms = (type(None), bool, int, float, complex, str, bytes)

    class FailedCrossing(Exception):
        """What was asked for has no plain value."""

    class Crossings:
        calls = 0
        failed = ""
        # Whether a call changed an argument.
        changed = False
        # Whether code of a test is running.
        running = False

        def begin(self):
            self.calls, self.failed, self.changed = 0, self.before, False

        def judged(self, result, text):
            """What became of a test, whose calls are all it can be judged by."""
            if self.failed:
                return "error", self.failed
            if result == "passed" and not self.calls:
                return "skipped", "it calls no function of the package's by itself"
            return result, text

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_setup(self):
            return (yield from self.run())

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_call(self):
            return (yield from self.run())

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_teardown(self):
            return (yield from self.run())

        def run(self):
            self.running = True
            try:
                return (yield)
            finally:
                self.running = False

        before = ""

    crossings = Crossings()

    def fail(why):
        crossings.failed = crossings.failed or why
        return FailedCrossing(why)

    def ask(*request):
        try:
            answer = _veriplay.ask_callee(("call", "serve", [request], {}))
        except Exception as error:
            raise fail("what crosses is no plain value: " + str(error)) from None
        if type(answer) is not tuple or not answer or type(answer[0]) is not str:
            raise fail("an answer that is none")
        check_plain(answer)
        if answer[0] == "raised" and len(answer) == 5:
            raise raised(*answer[1:])
        if answer[0] == "none":
            raise fail("`" + ".".join(map(str, request[1:3])) + "` cannot cross: " + str(answer[1:]))
        return answer

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

    def tell(module, names):
        """What the package says of a module's functions and exceptions when it is imported. Were an exception asked for when a test
        expects it, the package would know that the test does."""
        if type(names) is not dict:
            raise fail("an answer that is none")
        for name, kind in names.items():
            told[module, name] = kind

    def look(module, name):
        answer = told.get((module, name))
        if answer is None:
            answer = ask("look", module, name)
            if answer[0] == "exception":
                raise fail("`" + module + "." + name + "` was no exception when the module was imported")
        if answer[0] == "function":
            return function(module, name)
        if answer[0] == "exception" and len(answer) == 2:
            return exception(answer[1])
        if answer[0] == "module" and len(answer) == 2 and type(answer[1]) is str:
            # Any other would be the package's own code, or that of the tests.
            if answer[1].partition(".")[0] not in own | stdlib:
                raise fail("`" + module + "." + name + "` is the module `" + answer[1] + "`")
            return importlib.import_module(answer[1])
        if answer[0] == "value" and len(answer) == 2:
            return answer[1]
        if answer[0] == "missing":
            raise AttributeError("module `" + module + "` has no attribute `" + name + "`")
        return Elsewhere(module + "." + name)

    def function(module, name):
        def call(*arguments, **keywords):
            crossings.calls += 1
            answer = ask("call", module, name, arguments, keywords)
            if answer[0] != "returned" or len(answer) != 3:
                raise fail("an answer that is none")
            crossings.changed |= bool(answer[2])
            for place, now in answer[2]:
                change(arguments[place] if type(place) is int else keywords[place], now)
            return answer[1]

        call.__name__ = call.__qualname__ = name
        return functions.setdefault((module, name), call)

    def change(argument, now):
        if type(argument) is not type(now) or type(now) not in (list, dict, set):
            raise fail("an argument changed that cannot be changed here")
        if type(now) is list:
            argument[:] = now
        else:
            argument.clear()
            argument.update(now)

    def exception(chain):
        """The class that stands for one of the package's, by the names of it and of those it is derived from."""
        module, name, *bases = chain[0]
        if (module, name) in exceptions:
            return exceptions[module, name]
        if module == "builtins":
            found = getattr(builtins, name, None)
            if not (isinstance(found, type) and issubclass(found, Exception)) or issubclass(found, too_much):
                raise fail("`" + str(name) + "` ends more than a call")
        else:
            above = {link[:2]: chain[at:] for at, link in enumerate(chain) if at}
            found = type(name, tuple(exception(above[base]) for base in bases), {"__str__": lambda self: self.text})
            found.__module__ = module
        exceptions[module, name] = found
        return found

    def raised(chain, arguments, text, whole):
        try:
            kind = exception(chain)
            if not whole:
                return fail("an exception whose arguments are no plain values")
            if chain[0][0] != "builtins":
                error = kind.__new__(kind)
                error.args, error.text = arguments, str(text)
                return error
            error = kind(*arguments)
            return error if str(error) == text else fail("an exception that says something else here")
        except Exception as error:
            return error if type(error) is FailedCrossing else fail("an exception that cannot be made here: " + str(error))

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

    class Package(types.ModuleType):
        def __getattr__(self, name):
            if name.startswith("__") and name not in ("__version__", "__all__"):
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

    class Finder:
        """First of all finders, so that nothing of the package is loaded here."""

        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] not in own:
                return None
            answer = ask("import", name)
            if answer[0] != "module" or len(answer) != 2:
                raise ModuleNotFoundError("No module named `" + name + "`", name=name)
            tell(name, answer[1])
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

        def create_module(self, spec):
            return Package(spec.name)

        def exec_module(self, module):
            pass

    def audit(event, _arguments):
        """Text of the package's that a test runs would be code of the package's beside the tests."""
        if not crossings.running or not crossings.calls or event not in code_events:
            return
        if event == "exec" and frame(1).f_code.co_filename in makers_of_code:
            return
        raise fail("text or data is run as code: " + event)

    frame = sys._getframe
    code_events = frozenset(("exec", "pickle.find_class", "marshal.loads", "code.__new__", "function.__new__"))
    # The import system, and what makes a class by running a text of its own, in which only names are another's.
    makers_of_code = frozenset(
        (
            "<frozen importlib._bootstrap>",
            "<frozen importlib._bootstrap_external>",
            collections.namedtuple.__code__.co_filename,
            dataclasses.dataclass.__code__.co_filename,
        )
    )
    sys.addaudithook(audit)
    sys.meta_path.insert(0, Finder())
    return crossings


