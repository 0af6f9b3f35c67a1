"""The side of the package, where its tests are in another instance: imports it, and calls its functions when they ask.

It sees the arguments of calls and nothing of the tests. Whatever the package does to what is here, it changes what it answers,
and that is its own affair.
"""


def _package(roots):
    import builtins
    import importlib
    import marshal
    import os
    import sys
    import types

    if "_pytest.main" not in sys.modules:
        sys.modules.pop("pytest", None)
        sys.path.insert(0, "/opt/lib")
    sys.path[:0] = [os.path.join("/work", root).rstrip("/") for root in roots]
    sys.path.append("/opt/dependencies")
    _own_imports(OWN)
    plain = (type(None), bool, int, float, str, bytes)
    containers = (list, tuple, set, frozenset, dict)

    def serve(request):
        try:
            return ANSWERS[request[0]](*request[1:])
        except Exception as error:
            return raised(error)
        except BaseException as error:
            return ("none", "it ended with " + type(error).__name__)

    def import_(name):
        """The names of the module that stand for functions and exceptions, told before any test asks for one."""
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not (name + ".").startswith(error.name + "."):
                raise
            return ("missing",)
        kinds = {key: kind_of(found) for key, found in list(vars(module).items()) if type(key) is str and callable(found)}
        return ("module", {key: kind for key, kind in kinds.items() if kind[0] in ("function", "exception")})

    def look(module, name):
        found = getattr(sys.modules[module], name, ANSWERS)
        if found is ANSWERS:
            return ("module", module + "." + name) if import_(module + "." + name)[0] == "module" else ("missing",)
        return kind_of(found)

    def kind_of(found):
        if isinstance(found, types.ModuleType):
            return ("module", found.__name__)
        if isinstance(found, type):
            return ("exception", chain(found)) if issubclass(found, Exception) else ("elsewhere",)
        if is_plain(found, 0):
            return ("value", found)
        return ("function",) if callable(found) else ("elsewhere",)

    def call(module, name, arguments, keywords):
        places = [*enumerate(arguments), *keywords.items()]
        try:
            before = [(place, now, marshal.dumps(now, 2)) for place, now in places if type(now) in containers]
        except ValueError as error:
            return ("none", "an argument that cannot be compared later: " + str(error))
        returned = getattr(sys.modules[module], name)(*arguments, **keywords)
        return ("returned", returned, [(place, now) for place, now, was in before if marshal.dumps(now, 2) != was])

    def is_plain(value, depth):
        if type(value) in plain:
            return True
        if type(value) not in containers or depth > 50:
            return False
        if type(value) is dict:
            return all(is_plain(key, depth + 1) and is_plain(item, depth + 1) for key, item in value.items())
        return all(is_plain(item, depth + 1) for item in value)

    def raised(error):
        arguments = error.args
        if isinstance(error, OSError) and error.filename is not None:
            # It keeps the names of files apart.
            arguments = (error.errno, error.strerror, error.filename) + (() if error.filename2 is None else (None, error.filename2))
        whole = is_plain(arguments, 0)
        return ("raised", chain(type(error)), arguments if whole else (), str(error), whole)

    def chain(kind):
        """(module, name, *its bases) of a class of exceptions and of all that it is derived from, as it looks them up."""
        links = []
        for found in kind.__mro__:
            if issubclass(found, Exception):
                own = name_of(found)[0] != "builtins"
                links.append((*name_of(found), *(name_of(base) for base in found.__bases__ if own and issubclass(base, Exception))))
        return links

    def name_of(kind):
        if getattr(builtins, kind.__name__, None) is kind:
            return ("builtins", kind.__name__)
        return (kind.__module__, kind.__qualname__)

    ANSWERS = {"import": import_, "look": look, "call": call}
    return serve


serve = _package(ROOTS)
