"""Objects that two instances share: the tests' instance and the program's, which only ever run in turn.

Every container that crosses gets a handle, and each side keeps its own copy under it. Whenever one side enters the other, it
sends the contents of each shared container that has changed since the last crossing. So identity, aliasing and mutation, at any
depth, on a return or a raise, are those of one instance; strings and numbers alone cross by value, without identity.

A message is made of items and entries. An item is `(handle,)`, the empty tuple, or a plain value without contents. An entry is
`(handle, kind, payload)`: a new object, or the new contents of a mutable one. Nothing here decides a test: what cannot cross is
`Uncrossable`, and what the other side sends is checked before it is used, since a program may send anything.
"""

import _veriplay
import collections
import functools
import importlib
import itertools
import math
import operator
import random
import sys
import types

ENDS_OF_LOOPS = (StopIteration, StopAsyncIteration, GeneratorExit)
# Objects that call and nothing else, as far as tests can tell.
FUNCTIONS = {types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial, type(functools.lru_cache(len))}
SCALARS = {type(None), bool, int, str, bytes}
# Of these every instance has one object for a value.
SINGLETONS = {type(None), bool}
# Exceptions of these are signals to the runner of the tests.
RUNNERS = {"unittest", "doctest"}
# What one side makes out of the items of another kind's payload.
IMMUTABLE = {"tuple": tuple, "frozenset": frozenset}
MAX_NESTING, MAX_CAUSES = 200, 8
is_, bases_of = operator.is_, type.__dict__["__bases__"].__get__


class Uncrossable(Exception):
    """The object cannot be sent. `args[0]` says which and why."""


class ProtocolError(Exception):
    """The other side sent what its harness never sends."""


class Kind:
    """A mutable container: how it is read, made and filled. The first `raw` of its contents are sent as they are."""

    def __init__(self, name, contents, make, fill, raw=0):
        self.name, self.contents, self.make, self.fill, self.raw = name, contents, make, fill, raw


def _fill_list(found, items):
    found[:] = items


def _fill_set(found, items):
    found.clear()
    found.update(items)


def _fill_dict(found, items):
    half = len(items) // 2
    found.clear()
    for key, value in zip(items[:half], items[half:], strict=True):
        dict.__setitem__(found, key, value)


def _fill_ordered(found, items):
    half = len(items) // 2
    found.clear()
    for key, value in zip(items[:half], items[half:], strict=True):
        found[key] = value


def _fill_defaultdict(found, items):
    found.default_factory = items[0]
    _fill_dict(found, items[1:])


def _fill_deque(found, items):
    found.clear()
    found.extend(items[1:])


def _fill_bytes(found, items):
    found[:] = items[0]


OrderedDict, defaultdict, deque = collections.OrderedDict, collections.defaultdict, collections.deque
KINDS = {
    list: Kind("list", tuple, lambda _: [], _fill_list),
    set: Kind("set", tuple, lambda _: set(), _fill_set),
    dict: Kind("dict", lambda found: (*found.keys(), *found.values()), lambda _: {}, _fill_dict),
    collections.Counter: Kind(
        "Counter", lambda found: (*dict.keys(found), *dict.values(found)), lambda _: collections.Counter(), _fill_dict
    ),
    OrderedDict: Kind(
        "OrderedDict", lambda found: (*OrderedDict.keys(found), *OrderedDict.values(found)), lambda _: OrderedDict(), _fill_ordered
    ),
    defaultdict: Kind(
        "defaultdict",
        lambda found: (found.default_factory, *dict.keys(found), *dict.values(found)),
        lambda _: defaultdict(),
        _fill_defaultdict,
    ),
    deque: Kind("deque", lambda found: (found.maxlen, *found), lambda items: deque(maxlen=items[0]), _fill_deque, 1),
    bytearray: Kind("bytearray", lambda found: (bytes(found),), lambda _: bytearray(), _fill_bytes, 1),
}
MUTABLE = {kind.name: kind for kind in KINDS.values()}
IMMUTABLE_TYPES = {tuple, frozenset}
CONTAINERS = KINDS.keys() | IMMUTABLE_TYPES


# What nothing refers to cannot change. Of other kinds a weak reference may still lead there.
PARKABLE = {list, dict, bytearray}
# Contents that no object has: what it has must be sent.
UNKNOWN = (object(),)


def unchanged(before, now):
    """Whether contents of many objects are the same objects in the same order. `==` would take 1.0 for 1, and run code of theirs."""
    flat = itertools.chain.from_iterable
    return list(map(len, before)) == list(map(len, now)) and all(map(is_, flat(before), flat(now)))


class Objects:
    """One side's table of shared objects. `first` is 1 for the tests and 2 for the program, so that handles never collide."""

    def __init__(self, first):
        self.new_handle, self.parity = first, first % 2
        # Each side's own: a NaN equals itself only by identity.
        self.objects, self.handles = {0: math.nan}, {id(math.nan): 0}
        # Of the mutable ones, as of the last crossing: by type, so that many are compared in a few calls.
        self.contents = {kind: {} for kind in KINDS}
        self.parked = {}  # the same of those that the program does not refer to, until they are mentioned again
        self.entries, self.added, self.mentioned = [], [], set()
        self.by_value = SCALARS  # types that cross without identity
        self.copies = {}  # of the objects whose changes the last message brought in vain, by handle

    def keep_all_identities(self):
        """From now on strings and numbers keep their identity too, which takes an entry each."""
        self.by_value = SINGLETONS

    # Packing.

    def begin(self):
        self.entries, self.added, self.mentioned = [], [], set()

    def attempt(self, pack):
        """What `pack()` returns. When it raises, nothing that it packed is sent."""
        entries, added = len(self.entries), len(self.added)
        try:
            return pack()
        except Exception as error:
            for handle, _, _ in self.entries[entries:]:
                # What was there before and has been read now must be sent another time.
                self.set_contents(handle, UNKNOWN)
            del self.entries[entries:]
            for handle in self.added[added:]:
                self.drop(handle)
            del self.added[added:]
            if isinstance(error, RecursionError):
                raise Uncrossable("a value nested too deep") from None
            raise

    def add(self, found):
        handle = self.new_handle
        self.new_handle += 2
        self.objects[handle], self.handles[id(found)] = found, handle
        self.added.append(handle)
        return handle

    def drop(self, handle):
        found = self.objects.pop(handle)
        self.handles.pop(id(found), None)
        self.contents.get(type(found), {}).pop(handle, None)
        self.parked.pop(handle, None)

    def park(self, handle):
        """Leaves a container out of what is compared at each crossing, so that answers that tests keep cost nothing more."""
        self.parked[handle] = self.contents[type(self.objects[handle])].pop(handle)

    def can_park(self, handle):
        kind = type(self.objects.get(handle))
        return kind in PARKABLE and handle in self.contents[kind]

    def wake(self, handle):
        if handle in self.parked:
            self.set_contents(handle, self.parked.pop(handle))

    def set_contents(self, handle, contents):
        by_handle = self.contents.get(type(self.objects[handle]))
        if by_handle is not None:
            by_handle[handle] = contents

    def item(self, found, depth=0):
        """`found` as an item. What is new about it and in it goes into the entries."""
        todo = []
        item = self.item_of(found, todo, depth)
        self.finish(todo)
        return item

    def finish(self, todo):
        while todo:
            handle = todo.pop()
            self.send(handle, todo)

    def send(self, handle, todo):
        found = self.objects[handle]
        kind = KINDS[type(found)]
        contents = kind.contents(found)
        self.set_contents(handle, UNKNOWN)
        by_value = self.by_value
        items = list(contents[: kind.raw])
        for part in contents[kind.raw :]:
            # In short, for what most contents are.
            items.append(part if type(part) in by_value and type(part) is not str else self.item_of(part, todo, 0))
        self.set_contents(handle, contents)
        self.entries.append((handle, kind.name, items))

    def item_of(self, found, todo, depth):
        kind = type(found)
        if kind is str and not found.isascii():
            check_text(found)
        if kind in self.by_value or (kind is float and found == found and self.by_value is SCALARS):
            return found
        if kind is tuple and not found:
            return found
        handle = self.handles.get(id(found))
        if handle is None:
            handle = self.describe(found, kind, todo, depth)
            if handle is None:
                return found
        elif handle in self.parked:
            self.wake(handle)
            todo.extend(self.changed_among(kind, [handle]))
        self.mentioned.add(handle)
        return (handle,)

    def describe(self, found, kind, todo, depth):
        """Adds an object that the other side does not know; None for a plain value that crosses as it is."""
        if depth > MAX_NESTING:
            raise Uncrossable("a value nested too deep")
        if kind in KINDS:
            handle = self.add(found)
            todo.append(handle)
            return handle
        if kind is tuple or kind is frozenset:
            items = [self.item_of(part, todo, depth + 1) for part in found]
            return self.new(found, "tuple" if kind is tuple else "frozenset", items)
        if kind is str:
            return self.new(found, "text", [found, sys._is_interned(found)])
        if _veriplay.is_plain(found):
            # What does not equal itself is found by identity alone.
            return None if self.by_value is SCALARS and equals_itself(found) else self.new(found, "scalar", [found])
        place = self.library_place(found)
        if place is not None:
            return self.new(found, "library", list(place))
        return self.describe_own(found, kind, todo, depth)

    def library_place(self, found):
        return library_place(found)

    def describe_own(self, found, kind, todo, depth):
        raise Uncrossable("a value of type `" + type.__dict__["__name__"].__get__(kind) + "`")

    def new(self, found, kind, items):
        handle = self.add(found)
        self.entries.append((handle, kind, items))
        return handle

    def send_changes(self):
        """Packs the contents of each shared container that has changed."""
        changed = [handle for kind, before in self.contents.items() if before for handle in self.changed_among(kind, list(before))]
        for handle in changed:
            todo = []
            self.send(handle, todo)
            self.finish(todo)

    def changed_among(self, kind, handles):
        """Those of the handles of this type whose contents have changed. Mostly none has: all are compared at once, then each half."""
        before = list(map(self.contents[kind].__getitem__, handles))
        now = list(map(KINDS[kind].contents, map(self.objects.__getitem__, handles)))
        # A bytearray's contents are an object made anew.
        if before == now if kind is bytearray else unchanged(before, now):
            return []
        if len(handles) == 1:
            return handles
        half = len(handles) // 2
        return self.changed_among(kind, handles[:half]) + self.changed_among(kind, handles[half:])

    # Unpacking.

    def unpack(self, entries, ignored=()):
        """Takes over what the other side says of the objects. The `ignored` ones stay as they are here, and are sent back so: what
        refers to one in this message gets a copy that has changed."""
        if type(entries) is not list:
            raise ProtocolError("entries that are no list")
        mutable, self.copies = [], {}
        for handle, kind, payload in map(entry_of, entries):
            known = self.objects.get(handle)
            self.wake(handle)
            if handle in self.objects:
                if type(known) not in KINDS or KINDS[type(known)].name != kind:
                    raise ProtocolError("new contents of an object of another kind")
            elif handle % 2 == self.parity or handle <= 0:
                raise ProtocolError("a handle that is not the sender's")
            elif kind in MUTABLE:
                self.learn(handle, MUTABLE[kind].make(payload))
            if kind in MUTABLE:
                mutable.append((handle, payload))
        for handle, kind, payload in entries:
            if kind not in MUTABLE:
                self.learn(handle, self.made(handle, kind, payload))
        for handle, payload in mutable:
            if handle in ignored:
                self.copies[handle] = KINDS[type(self.objects[handle])].make(payload)
        for handle, payload in mutable:
            found = self.at((handle,))
            kind = KINDS[type(found)]
            kind.fill(found, [self.at(item) for item in payload])
            self.set_contents(handle, UNKNOWN if handle in ignored else kind.contents(found))

    def learn(self, handle, found):
        if handle in self.objects:
            raise ProtocolError("two objects of one handle")
        self.objects[handle] = found
        self.handles.setdefault(id(found), handle)

    def made(self, handle, kind, payload):
        if kind in IMMUTABLE:
            return IMMUTABLE[kind]([self.at(item) for item in payload])
        if kind == "scalar":
            return copied(*payload)
        if kind == "text":
            text, interned = payload
            return sys.intern(text) if interned else copied(text)
        if kind == "library":
            return library_object(*payload)
        return self.made_here(handle, kind, payload)

    def made_here(self, handle, kind, payload):
        raise ProtocolError("an object of kind `" + str(kind) + "`")

    def at(self, item):
        """The object of an item."""
        if type(item) is not tuple:
            if type(item) in CONTAINERS:
                raise ProtocolError("a container without a handle")
            return item
        if not item:
            return item
        if len(item) != 1 or type(item[0]) is not int or item[0] not in self.objects:
            raise ProtocolError("a handle of no object")
        self.wake(item[0])
        return self.copies.get(item[0], self.objects[item[0]])

    # Forgetting.

    def drop_all(self, handles):
        for handle in handles:
            self.drop(handle)


def references(objects, handles):
    return map(sys.getrefcount, map(objects.__getitem__, handles))


IDLE = max(references({1: [], 2: set()}, (1, 2)))
# So many objects are looked at without asking whether they need be.
SWEEP = 32


def idle_among(objects, handles):
    """Those of the handles whose objects nothing but the table refers to."""
    return list(itertools.compress(handles, map(IDLE.__ge__, references(objects, handles))))


def equals_itself(found):
    try:
        return found == found
    except ArithmeticError:
        return False  # a signalling NaN


def copied(value):
    """The same value; where Python keeps one object for it, that."""
    if type(value) in CONTAINERS:
        raise ProtocolError("a container among the scalars")
    return value


def check_text(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Uncrossable("a str with a lone surrogate") from None


def entry_of(entry):
    if type(entry) is not tuple or len(entry) != 3:
        raise ProtocolError("an entry without handle, kind and payload")
    handle, kind, payload = entry
    if type(handle) is not int or type(kind) is not str or type(payload) is not list:
        raise ProtocolError("an entry without handle, kind and payload")
    return entry


def library_place(found):
    """(module, name) of a class, function or module of the standard library; None for all else. The other side takes its own."""
    if type(found) is types.ModuleType:
        name = found.__dict__.get("__name__")
        return (name, "") if is_library(name) and sys.modules.get(name) is found else None
    if not issubclass(type(found), (type, types.BuiltinFunctionType, types.FunctionType)):
        return None
    module, name = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    if type(module) is not str or type(name) is not str or not is_library(module):
        return None
    return (module, name) if attribute_at(sys.modules.get(module), name) is found else None


def is_library(name):
    return type(name) is str and name.partition(".")[0] in sys.stdlib_module_names


def attribute_at(found, name):
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def library_object(module, name):
    if not is_library(module) or type(name) is not str or module.endswith("__main__"):
        raise ProtocolError("an object of no library")
    try:
        found = importlib.import_module(module)
    except BaseException:
        raise ProtocolError("a module that is not there") from None
    if name:
        found = attribute_at(found, name)
        if not isinstance(found, (type, types.BuiltinFunctionType, types.FunctionType)):
            raise ProtocolError("a name of the library that is no class and no function")
    return found


def is_safe(found, module, _name):
    """Whether an object of the library is what it is called, whatever is done with it."""
    if type(found) is not type:
        return False
    return module == "builtins" or issubclass(found, BaseException) and module.partition(".")[0] not in RUNNERS


class Unjudgeable(BaseException):
    """Ends a test that cannot be judged. What the test's code does about it changes nothing: the caller remembers."""


def arguments_of(error):
    """What its class is called with. An OSError does not keep the name of its file among its arguments."""
    arguments = tuple(error.args)
    if isinstance(error, OSError) and len(arguments) == 2 and error.filename is not None:
        return (*arguments, error.filename)
    return arguments


def text_of(error):
    text = str(error)
    if type(text) is not str:
        raise Uncrossable("a text of another type")
    check_text(text)
    return text


class Caller(Objects):
    """The tests' side: asks the program, and remembers what keeps the test under way from being judged.

    With `unseen`, changes that a call makes to the tests' own objects are taken over only where its result is thrown away.
    """

    def __init__(self, unseen):
        super().__init__(1)
        self.unseen = unseen
        self.trouble = None  # (word, why) of the test under way
        self.lasting = None  # the same, of this and all later ones
        self.testing = False  # whether a test is under way: what happens before or between tests lasts
        self.borrowed = {}  # names in the library of objects that cross by that name alone, by handle
        self.thrown_away = False  # whether the call under way is a statement of its own
        self.fresh = ()  # ids of objects that nothing but the call under way refers to
        self.ever_given = set()  # handles of what has been passed in any call, and what was in it
        self.given = ()  # what is passed in it
        self.sweep_at = SWEEP  # how many objects are looked at before those are sought that need not be
        self.changed = False  # whether a call whose result counts changed an object of the tests'
        self.check_process = lambda: None
        self.tell_names = lambda told: None

    def spoil(self, word, why, lasting=False):
        self.note(word, why, lasting)
        raise Unjudgeable(why)

    def note(self, word, why, lasting=False):
        self.trouble = self.trouble or (word, why)
        if lasting or not self.testing:
            self.lasting = self.lasting or (word, why)

    def start_test(self):
        self.trouble, self.testing = self.lasting, True

    def end_test(self):
        """What keeps the test from being judged, if anything does."""
        self.testing = False
        return self.trouble

    def call(self, handle, arguments, keywords, thrown_away=False, fresh=()):
        self.thrown_away, self.fresh = thrown_away, fresh
        return self.ask("call", (handle,), arguments, keywords)

    def look(self, name):
        """What the program means by `name`; AttributeError where it means nothing."""
        return self.ask("look", name)

    def watch(self, names, options):
        """Asks to be told what these names stand for, now and whenever that changes. Of the options "identities" gives strings and
        numbers an identity, and "random" keeps the program from drawing."""
        self.ask("watch", tuple(options), names)
        if "identities" in options:
            self.keep_all_identities()

    def attribute(self, handle, name):
        self.thrown_away, self.fresh = True, ()
        return self.ask("attribute", (handle,), (name,))

    def ask(self, action, target, arguments=(), keywords={}):
        if self.lasting:
            self.spoil(*self.lasting)
        self.check_process()
        self.begin()
        self.given = (*arguments, *keywords.values())

        def pack():
            items = [self.item(argument) for argument in arguments]
            keyword_items = {name: self.item(argument) for name, argument in keywords.items()}
            self.send_changes()
            return items, keyword_items

        try:
            items, keyword_items = self.attempt(pack)
        except Uncrossable as error:
            self.spoil("unjudgeable", "what the tests pass cannot cross to the program: " + error.args[0])
        idle = self.idle()
        request = ("share", action, target, items, keyword_items, self.entries, idle)
        try:
            reply = _veriplay.ask_peer(request)
        except _veriplay.PeerError as error:
            self.spoil("error", "the program left the protocol: " + ": ".join(error.args), lasting=True)
        except ValueError as error:
            self.spoil("unjudgeable", str(error), lasting=True)
        except TypeError as error:
            self.spoil("error", "the program left the protocol: " + str(error), lasting=True)
        try:
            word, payload = self.take_over(reply, idle)
            error = self.exception(*payload) if word == "raised" else None
            value = None
            if word == "returned":
                value = self.at_name(target, payload) if action == "look" else self.as_changed(self.at(payload))
        except Exception as error:
            why = "the program left the protocol: " + type(error).__name__ + ": " + str(error)
            self.spoil("error", why, lasting=True)
        if word == "returned":
            return value
        if word == "raised":
            raise error
        if word == "missing":
            raise AttributeError("the program does not define `" + str(target) + "`")
        self.spoil("unjudgeable", "what the program gives cannot cross to the tests: " + str(payload), word == "broken")

    def idle(self):
        """Handles of objects that the tests do not refer to, and 0; nothing at most crossings, since looking for them takes long."""
        if len(self.objects) - len(self.parked) < self.sweep_at:
            return []
        return idle_among(self.objects, self.objects) + [0]

    def moved(self, word, entries):
        """Handles of the changed objects by which a call could move what the tests expect of it: those that it was given, unless the
        tests throw its result away, and those of the tests' that it was given before."""
        changed = [entry_of(entry)[0] for entry in entries if entry_of(entry)[0] in self.objects]
        given = self.reachable(self.given)
        self.ever_given |= given
        theirs = lambda handle: handle % 2 == self.parity or handle in self.ever_given
        if self.thrown_away and word == "returned":
            return [handle for handle in changed if theirs(handle) and handle not in given]
        return [handle for handle in changed if theirs(handle) and id(self.objects[handle]) not in self.fresh]

    def reachable(self, found):
        """Handles of the containers among `found` and in them."""
        handles, todo = set(), list(found)
        while todo:
            part = todo.pop()
            handle = self.handles.get(id(part)) if type(part) in CONTAINERS else None
            if handle is not None and handle not in handles:
                handles.add(handle)
                todo.extend(part if type(part) in IMMUTABLE_TYPES else KINDS[type(part)].contents(part))
        return handles

    def as_changed(self, found):
        """What a call gave, where it holds objects whose changes are not taken over: a copy that has them."""
        if not self.copies:
            return found
        made = {id(self.objects[handle]): copy for handle, copy in self.copies.items()}

        def copied(part):
            kind = type(part)
            if kind not in CONTAINERS or id(part) in made:
                return made.get(id(part), part)
            if kind in IMMUTABLE_TYPES:
                return kind(map(copied, part))
            contents = KINDS[kind].contents(part)
            copy = made[id(part)] = KINDS[kind].make(contents)
            KINDS[kind].fill(copy, list(map(copied, contents)))
            return copy

        for copy in self.copies.values():
            made[id(copy)] = copy
            kind = KINDS[type(copy)]
            kind.fill(copy, list(map(copied, kind.contents(copy))))
        return copied(found)

    def take_over(self, reply, idle):
        word, payload, entries, names, dropped, parked = reply
        words = ("returned", "raised", "missing", "uncrossable", "broken")
        if word not in words or not set(dropped) <= set(idle) or not all(map(self.can_park, parked)):
            raise ProtocolError("a reply that is none")
        moved = self.moved(word, entries)
        self.changed = self.changed or bool(moved)
        self.unpack(entries, moved if self.unseen else ())
        self.tell_names([(name, what, self.at_name(name, item) if what == "value" else item) for name, what, item in names])
        self.drop_all(dropped)
        for handle in parked:
            self.park(handle)
        if idle:
            self.sweep_at = SWEEP + 2 * (len(self.objects) - len(self.parked))
        return word, payload

    def made(self, handle, kind, payload):
        """Of the library a program can give values only what cannot lie: built-in types, and exceptions that mean nothing to a runner
        of tests. All else is for names alone that the tests borrow, see `at_name`."""
        found = super().made(handle, kind, payload)
        if kind == "library" and not is_safe(found, *payload):
            self.borrowed[handle] = payload[1] or payload[0]
        return found

    def at(self, item):
        if type(item) is tuple and item and item[0] in self.borrowed:
            self.spoil("unjudgeable", "`" + self.borrowed[item[0]] + "` of the library cannot cross as a value")
        return super().at(item)

    def at_name(self, name, item):
        """What a name of the program's stands for. A library's object only where it has that name itself."""
        if type(item) is tuple and item and self.borrowed.get(item[0]) == name:
            return self.objects[item[0]]
        return self.at(item)

    def made_here(self, handle, kind, payload):
        if kind == "function":
            return Function(self, handle, payload == [True])
        if kind == "exception":
            return self.exception_class(payload[0], [self.at(item) for item in payload[1:]])
        return super().made_here(handle, kind, payload)

    def exception_class(self, name, bases):
        """A class of the tests' own in place of one of the program's: of the same bases, and known by its handle."""
        if not bases or not all(isinstance(base, type) and issubclass(base, BaseException) for base in bases):
            raise ProtocolError("a class that is no exception")

        def missing(error, attribute):
            if attribute.startswith("__"):
                raise AttributeError(attribute)
            self.spoil("unjudgeable", "attribute `" + attribute + "` of the program's exception stays on its side")

        def text(error):
            found = error.__dict__.get("_text")
            if found is None:
                self.spoil("unjudgeable", "the text of the program's exception cannot cross to the tests")
            return found

        return type(name, tuple(bases), {"__module__": "program", "__str__": text, "__getattr__": missing})

    def exception(self, kind, arguments, text, attributes, whole, cause, context, suppressed):
        """The exception that the program raised, as one of the tests' side."""
        kind = self.at(kind)
        if not isinstance(kind, type) or not issubclass(kind, BaseException) or type(text) not in (str, type(None)):
            raise ProtocolError("an exception that is none")
        if issubclass(kind, ENDS_OF_LOOPS):
            self.spoil("unjudgeable", "the program raised `" + kind.__name__ + "`, which would end a loop of the tests' own")
        error = self.bare_exception(kind, None if arguments is None else [self.at(item) for item in arguments], whole)
        error.__dict__.update((name, self.at(item)) for name, item in attributes.items())
        if type(error) is not kind or kind.__module__ == "program":
            error.__dict__["_text"] = text
        error.__cause__ = None if cause is None else self.exception(*cause)
        error.__context__ = None if context is None else self.exception(*context)
        error.__suppress_context__ = suppressed
        return error

    def bare_exception(self, kind, arguments, whole):
        """One of that class without its attributes. What of it is not known makes who asks for it unjudgeable."""
        if arguments is not None and kind.__module__ == "program":
            error = kind.__new__(kind, *arguments)
            error.args = arguments
            return error
        if arguments is not None and whole:
            try:
                return kind(*arguments)
            except Exception:
                # Its class takes other arguments than it keeps. All it has beside those are its attributes.
                error = kind.__new__(kind)
                error.args = arguments
                return error
        part = self.exception_class(kind.__name__, [kind])
        try:
            error = kind.__new__(part)
        except Exception:
            self.spoil("unjudgeable", "the arguments of the program's `" + kind.__name__ + "` cannot cross to the tests")
        if arguments is None:
            part.args = property(lambda _: self.spoil("unjudgeable", "the arguments of the program's exception stay on its side"))
        else:
            error.args = arguments
        return error


def remote(name):
    return property(lambda function: function.__getattr__(name))


class Function:
    """A function of the program, as the tests see it: it can be called, passed back, and compared by identity. What they ask of its
    attributes is asked of the function itself."""

    __slots__ = ("_caller", "_handle", "_is_plain", "__weakref__")
    __doc__, __module__, __dict__ = remote("__doc__"), remote("__module__"), remote("__dict__")

    def __init__(self, caller, handle, is_plain):
        self._caller, self._handle, self._is_plain = caller, handle, is_plain

    @property
    def __class__(self):
        if not self._is_plain:
            self._caller.spoil("unjudgeable", "the tests ask for the class of an object of the program's")
        return types.FunctionType

    def __call__(self, *arguments, **keywords):
        return self._caller.call(self._handle, arguments, keywords)

    def __getattr__(self, name):
        return self._caller.attribute(self._handle, name)

    def __setattr__(self, name, value):
        if name not in Function.__slots__:
            self._caller.spoil("unjudgeable", "the tests set attribute `" + name + "` of the program's function")
        object.__setattr__(self, name, value)

    def __repr__(self):
        self._caller.spoil("unjudgeable", "the tests show an object of the program's, address and all")

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self


# What a class has beside its methods, and what making an instance takes.
UNSEEN = {"__module__", "__doc__", "__dict__", "__weakref__", "__qualname__", "__slots__", "__annotations__", "__firstlineno__"}
UNSEEN |= {"__static_attributes__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__init__", "__new__", "__call__"}


def only_called(kind):
    """Whether an object of this class of the program's can do nothing but be called."""
    own = [name for base in kind.__mro__[:-1] for name in vars(base)]
    return all(name in UNSEEN for name in own if name.startswith("__"))


class Callee(Objects):
    """The program's side: answers the requests of the tests."""

    def __init__(self, names):
        super().__init__(2)
        self.names = names
        self.watched = {}  # name -> what it was when last told
        self.dice = None  # the state of `random`, where the tests set theirs

    def library_place(self, found):
        """Of the library only what cannot lie crosses as a value: built-in types and exceptions. Functions are called here."""
        place = library_place(found)
        return place if place and is_safe(found, *place) else None

    def describe_own(self, found, kind, todo, depth):
        if kind in FUNCTIONS:
            return self.new(found, "function", [kind is types.FunctionType])
        if issubclass(kind, type) and issubclass(found, BaseException):
            bases = [base for base in bases_of(found) if issubclass(base, BaseException)]
            items = [self.item_of(base, todo, depth + 1) for base in bases]
            return self.new(found, "exception", [type.__dict__["__name__"].__get__(found), *items])
        return super().describe_own(found, kind, todo, depth)

    def answer(self, request):
        """The reply to one request: `(word, payload, entries, names, dropped, parked)`."""
        _, action, target, items, keywords, entries, idle = request
        self.unpack(entries)
        self.begin()
        if action == "watch":
            self.watched = {name: self for name in items}
            if "identities" in target:
                self.keep_all_identities()
            self.dice = random.getstate() if "random" in target else None
            result = lambda: ("returned", None)
        elif action == "attribute":
            found, name = self.at(target), self.at(items[0])
            result = self.called(getattr, [found, name], {})
        elif action == "look":
            result = self.looked_up(target)
        else:
            result = self.called(self.at(target), [self.at(item) for item in items], {k: self.at(v) for k, v in keywords.items()})
        try:
            self.attempt(self.send_changes)
        except Uncrossable as error:
            return ("broken", "a shared object holds " + error.args[0], [], [], [], [])
        names = self.changed_names()
        try:
            word, payload = self.attempt(result)
        except Uncrossable as error:
            word, payload = "uncrossable", error.args[0]
        del result
        if self.dice is not None and random.getstate() != self.dice:
            word, payload = "broken", "what it draws, as the tests set a seed of their own"
        dropped, parked = self.sweep(set(idle)) if idle else ([], [])
        return (word, payload, self.entries, names, dropped, parked)

    def sweep(self, idle):
        """What neither side refers to is dropped; of the rest, what the program does not refer to is parked."""
        looked_at = [handle for handle in self.objects if handle and (handle not in self.parked or handle in idle)]
        unused = [handle for handle in idle_among(self.objects, looked_at) if handle not in self.mentioned]
        dropped, parked = [handle for handle in unused if handle in idle], [handle for handle in unused if handle not in idle]
        self.drop_all(dropped)
        parked = list(filter(self.can_park, parked))
        for handle in parked:
            self.park(handle)
        return dropped, parked

    def called(self, function, arguments, keywords):
        try:
            value = function(*arguments, **keywords)
        except BaseException as error:
            error.__traceback__ = None
            return functools.partial(self.raised, error)
        return lambda: ("returned", self.item(value))

    def raised(self, error):
        return ("raised", self.exception_item(error, 0))

    def exception_item(self, error, depth):
        """Class, arguments, text, attributes, whether those are all, cause, context, and whether that is suppressed. None stands for
        what cannot cross."""
        if depth > MAX_CAUSES:
            raise Uncrossable("an exception with too many causes")
        kind = self.item(type(error))
        arguments = self.tried(lambda: [self.item(argument) for argument in arguments_of(error)])
        attributes, whole = {}, True
        for name, value in error.__dict__.items():
            item = self.tried(lambda: (check_text(name), self.item(value)))
            whole = whole and item is not None
            if item is not None:
                attributes[name] = item[1]
        cause, context = (
            None if other is None else self.exception_item(other, depth + 1) for other in (error.__cause__, error.__context__)
        )
        text = self.tried(lambda: text_of(error))
        return (kind, arguments, text, attributes, whole, cause, context, bool(error.__suppress_context__))

    def tried(self, pack):
        """What `pack()` returns; None where it cannot cross, or code of the program's that it runs raises."""
        try:
            return self.attempt(pack)
        except Exception:
            return None

    def looked_up(self, name):
        if name not in self.names:
            return lambda: ("missing", None)
        found = self.names[name]
        return lambda: ("returned", self.named_item(name, found))

    def named_item(self, name, found):
        """A name may stand for anything that can be called but for a class, and for what the library calls by that name: tests that
        borrow an import of the program's get the real one."""
        place = None if type(found) is types.FunctionType else library_place(found)
        if place is not None and name == (place[1] or place[0]) and type(found) is not types.BuiltinFunctionType:
            handle = self.handles.get(id(found)) or self.new(found, "library", list(place))
            self.mentioned.add(handle)
            return (handle,)
        try:
            return self.item(found)
        except Uncrossable:
            if issubclass(type(found), type) or not callable(found) or not only_called(type(found)):
                raise
            handle = self.new(found, "function", [False])
            self.mentioned.add(handle)
            return (handle,)

    def changed_names(self):
        """`(name, word, item)` of each watched name that is bound to another object than when it was last told."""
        told = []
        for name, before in self.watched.items():
            now = self.names.get(name, Callee)
            if now is before:
                continue
            self.watched[name] = now
            if now is Callee:
                told.append((name, "missing", None))
                continue
            try:
                told.append((name, "value", self.attempt(lambda: self.named_item(name, now))))
            except Uncrossable as error:
                told.append((name, "uncrossable", error.args[0]))
        return told
