"""The side of the package, where its tests are in another instance: imports it, and calls its functions when they ask.

It sees the arguments of calls and nothing of the tests. Whatever the package does to what is here, it changes what it answers,
and that is its own affair.

An answer to a call or an import is (what it is, whatever says more, values, the numbers of their objects, which of them are kept here).
The values are what it came to, the objects of the tests that are not as they were, and what names of modules now stand for. Names are
told before a test asks for one: what a test reads is no message to the package.
"""


def _package(roots):
    import builtins
    import importlib
    import os
    import sys
    import types

    if "_pytest.main" not in sys.modules:
        sys.modules.pop("pytest", None)
        sys.path.insert(0, "/opt/lib")
    sys.path[:0] = [os.path.join("/work", root).rstrip("/") for root in roots]
    sys.path.append("/opt/dependencies")
    _own_imports(OWN)
    own = frozenset(OWN)
    plain = (type(None), bool, int, float, str, bytes)
    containers = (list, tuple, set, frozenset, dict)
    # Bytes of a value of a module that is told, and of all that are looked at after each call.
    max_told, max_watched = 256 << 10, 64 << 10
    watched = 0
    table = _object_table(2)
    # Fingerprints of the objects that both sides have, by their numbers, and those among them that modules hold.
    shared, pinned = {}, set()
    # The classes of exceptions that were told of, with their numbers.
    classes = {}
    # The names that were told of each module: the names, what they stood for, and its ids.
    told, modules = {}, 0

    def serve(request):
        try:
            return ANSWERS[request[0]](*request[1:])
        except BaseException as error:
            return ("none", "it ended with " + type(error).__name__)

    def import_(name):
        box, kind, more = [()], "module", ()
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not (name + ".").startswith(error.name + "."):
                kind, more, box = raised(error)
            else:
                kind = "missing"
        except Exception as error:
            kind, more, box = raised(error)
        return answer(kind, more, box, ())

    def call(module, name, names, values, numbers, dropped):
        arguments, others, _ = table.resolve(values, iter(numbers), lambda number: None)
        for number in dropped:
            table.forget(number)
            shared.pop(number, None)
        if values[2]:
            for number, was in shared.items():
                if was is not None:
                    shared[number] = table.fingerprint(table.objects[number])
        keywords = dict(zip(names, others))
        given = [(value, table.fingerprint(value)) for value in (*arguments, *others) if type(value) in table.deep]
        kind, more = "returned", ()
        try:
            box = [getattr(sys.modules[module], name)(*arguments, **keywords)]
        except Exception as error:
            kind, more, box = raised(error)
        # By their ids: what refers to them is counted.
        changed = {id(value) for value, was in given if table.fingerprint(value) != was}
        del given
        return answer(kind, more, box, changed, arguments, others, keywords.values())

    def answer(kind, more, box, changed, *holders):
        news = names_now()
        table.number(box[0], [])
        kept = table.kept((*holders, box, [table.objects[number] for number in shared if number not in pinned]))
        also = [number for number, was in shared.items() if was is not None and table.fingerprint(table.objects[number]) != was]
        found = [value for holder in holders for value in holder if id(value) in changed] + [table.objects[number] for number in also]
        values, numbers = (box[0], tuple(found), news), []
        table.number(values, numbers)
        pin(news)
        for number in also:
            # What a module holds, it still holds.
            if number in pinned:
                pin(table.objects[number])
        kept |= pinned
        table.forget_but(kept)
        for number in [number for number in shared if number not in kept]:
            del shared[number]
        for number in kept:
            if number not in shared or number in also:
                shared[number] = table.fingerprint(table.objects[number])
        return (kind, more, values, numbers, [number for number in kept if number not in pinned], sorted(pinned.intersection(numbers)))

    def pin(value):
        """Modules hold the objects in it. They are looked at after each call while that costs little."""
        nonlocal watched
        found = []
        table.number(value, found)
        for number in found:
            if number not in pinned:
                pinned.add(number)
                now = table.fingerprint(table.objects[number])
                watched += len(now)
                shared[number] = now if watched <= max_watched else None

    def names_now():
        """Each name of the package's modules that stands for something else than was told, and what it stands for."""
        nonlocal modules
        if modules != len(sys.modules):
            modules = len(sys.modules)
            for name, module in list(sys.modules.items()):
                if name.partition(".")[0] in own and isinstance(module, types.ModuleType) and name not in told:
                    told[name] = ((), [], [])
        news = []
        for name, (keys, _, ids) in told.items():
            module = sys.modules.get(name)
            if not isinstance(module, types.ModuleType):
                continue
            names = vars(module)
            if ids == [*map(id, names.values())] and keys == tuple(names):
                continue
            was, now = dict(zip(keys, ids)), dict(names)
            told[name] = (tuple(now), list(now.values()), [*map(id, now.values())])
            if not keys:
                now.update(exported(module, now))
            shown = lambda key: type(key) is str and (not key.startswith("__") or key in ("__all__", "__version__"))
            changes = [(key, kind_of(value)) for key, value in now.items() if shown(key) and was.get(key) != id(value)]
            changes += [(key, ("missing",)) for key in was if shown(key) and key not in now]
            news.append((name, tuple(changes)))
        return tuple(news)

    def exported(module, names):
        """What a module makes when it is asked for a name that it exports."""
        listed = names.get("__all__", ())
        found = {}
        for key in listed if type(listed) in (list, tuple) else ():
            if type(key) is str and key not in names:
                try:
                    found[key] = getattr(module, key)
                except Exception:
                    pass
        return found

    def kind_of(found):
        if isinstance(found, types.ModuleType):
            return ("module", found.__name__)
        if isinstance(found, type):
            return ("exception", chain(found)) if issubclass(found, Exception) else ("elsewhere",)
        if is_plain(found, 0):
            return ("value", found) if type(found) in plain or len(table.fingerprint(found)) <= max_told else ("elsewhere",)
        return ("function",) if callable(found) else ("elsewhere",)

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
        return "raised", (chain(type(error)), str(error)), [tuple([argument(value) for value in arguments])]

    def argument(value):
        """One that cannot cross stays here, and its texts cross."""
        return ("plain", value) if is_plain(value, 0) else ("opaque", str(value), repr(value))

    def chain(kind):
        """(number, module, name, *numbers of its bases) of a class of exceptions and of all that it is derived from, as it looks
        them up. Classes of one name are two."""
        return tuple(
            (number_of(found), *name_of(found), *(number_of(base) for base in found.__bases__ if issubclass(base, Exception)))
            for found in kind.__mro__
            if issubclass(found, Exception)
        )

    def number_of(kind):
        return classes.setdefault(id(kind), (len(classes), kind))[0]

    def name_of(kind):
        if getattr(builtins, kind.__name__, None) is kind:
            return ("builtins", kind.__name__)
        return (kind.__module__, kind.__qualname__)

    ANSWERS = {"import": import_, "call": call}
    return serve


serve = _package(ROOTS)
