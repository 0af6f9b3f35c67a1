"""Objects that two instances share: the tests' instance and the program's, which only ever run in turn.

Every container that crosses gets a handle, and each side keeps its own copy under it. Whenever one side enters the other, it
sends the contents of each shared container that has changed since the last crossing. So identity, aliasing and mutation, at any
depth, on a return or a raise, are those of one instance; strings and numbers alone cross by value, without identity.

A message is made of items and entries. An item is `(handle,)`, the empty tuple, or a plain value without contents. An entry is
`(handle, kind, payload)`: a new object, or the new contents of a mutable one. Nothing here decides a test: what cannot cross is
`Uncrossable`, and the objects that the other side sends are checked before they are used, since a program may send anything. What it says
of itself is believed: the state of its process, and what is behind its exceptions. A program that lies there passes its run apart, and
must still pass the one next to its tests.

An exception of the program's is one of its class on the tests' side, with all that the library's part of it has. What the program's
own classes add to that stays with the program, and is asked for there: see `StandIn`.

The state of a process is no object. Each side says what of `STATE` is no longer as the image has it, and the tests are unjudgeable
where one side changes what the other names.
"""

import _veriplay
import builtins
import collections
import contextvars
import datetime
import decimal
import fractions
import functools
import gc
import importlib
import itertools
import math
import operator
import os
import random
import re
import sys
import types
import typing
import warnings

ENDS_OF_LOOPS = (StopIteration, StopAsyncIteration, GeneratorExit)
# Objects that call and nothing else, as far as tests can tell.
FUNCTIONS = {
    types.FunctionType: "function",
    types.MethodType: "method",
    types.BuiltinFunctionType: "builtin_function_or_method",
    functools.partial: "partial",
    type(functools.lru_cache(len)): "_lru_cache_wrapper",
}
SCALARS = {type(None), bool, int, str, bytes}
# Of these no instance holds another object.
FLAT = SCALARS | {float}
# Of these every instance has one object for a value.
SINGLETONS = {type(None), bool}
# Exceptions of these are signals to the runner of the tests.
RUNNERS = {"unittest", "doctest"}
# What one side makes out of the items of another kind's payload.
IMMUTABLE = {"tuple": tuple, "frozenset": lambda row: frozenset(filling(row))}
MAX_NESTING, MAX_CAUSES = 200, 8
is_, bases_of, name_of, qualname_of, dict_of = (
    operator.is_, *(type.__dict__["__" + name + "__"].__get__ for name in ("bases", "name", "qualname", "dict"))
)


class Uncrossable(Exception):
    """The object cannot be sent. `args[0]` says which and why."""


class ProtocolError(Exception):
    """The other side sent what its harness never sends."""


class Kind:
    """A mutable container: how it is read, made and filled, and in what order its contents are sent, the first `raw` as they are."""

    def __init__(self, name, contents, make, fill, raw=0, row=lambda contents: contents):
        self.name, self.contents, self.make, self.fill, self.raw, self.row = name, contents, make, fill, raw, row


def _fill_list(found, items):
    found[:] = items


def _fill_set(found, items):
    # All of them: what was there may equal what is there now, and be of another type.
    found.clear()
    found.update(filling(items))


def filling(row):
    """What a set is to be filled with. The first of the row says whether one by one, or all at once, which makes a larger table."""
    return (list, set, dict.fromkeys)[row[0]](row[1:])


# What `typing.NamedTuple` gives a class beside what `namedtuple` does, and what `copyreg` keeps in any class.
OF_CLASS_SYNTAX = {
    "__slotnames__",
    "__orig_bases__", "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__classdictcell__",
    "__firstlineno__", "__static_attributes__",
}


def is_namedtuple(kind):
    """Whether it is a class as `namedtuple` makes them, with nothing of the program's own: it is made again, and compared."""
    if type(kind) is not type or bases_of(kind) != (tuple,):
        return False
    own = dict_of(kind)
    fields, defaults = own.get("_fields"), own.get("_field_defaults")
    if type(fields) is not tuple or not all(type(name) is str for name in fields) or type(defaults) is not dict:
        return False
    if not own.keys() - OF_CLASS_SYNTAX == OF_NAMEDTUPLES | set(fields) or tuple(defaults) != fields[len(fields) - len(defaults) :]:
        return False
    try:
        made = named_tuple(name_of(kind), fields, defaults.values(), own["__module__"], own["__doc__"], has_defaults(kind))
    except (TypeError, ValueError):
        return False
    return all(alike(own[name], found) for name, found in dict_of(made).items() if name not in OF_CLASS_SYNTAX)


class Renamed(str):
    """Has what class syntax gives every class."""


# What may be given another name, and how a value of the class itself is had of it.
EXACT = {bytes: bytes.__bytes__, float: float.__float__, int: int.__int__, str: str.__str__}
OF_RENAMING_CLASSES = dict_of(Renamed).keys() | {"__slots__"}


def only_renames(kind):
    """Whether it is a class that gives a built-in one another name, and nothing else: no method and no field."""
    if type(kind) is not type or len(bases_of(kind)) != 1 or not any(map(is_, bases_of(kind) * len(EXACT), EXACT)):
        return False
    own = dict_of(kind)
    slots = (own[name] for name in ("__dict__", "__weakref__") if name in own)
    return own.keys() <= OF_RENAMING_CLASSES and all(type(slot) is types.GetSetDescriptorType for slot in slots)


def has_fields(found):
    """Whether an object of such a class has been given any."""
    slot = dict_of(type(found)).get("__dict__")
    return slot is not None and bool(slot.__get__(found))


def named_tuple(name, fields, defaults, module, doc, with_defaults):
    """A class with these fields. `namedtuple` makes names such as `_1` of what is none, and refuses them."""
    rename = any(field.startswith("_") for field in fields)
    made = collections.namedtuple(name, fields, rename=rename, defaults=list(defaults) if with_defaults else None, module=module)
    if type(doc) is str and doc != made.__doc__:
        made.__doc__ = doc
    return made


def has_defaults(kind):
    """Whether it was made with a list of defaults, which may be empty: class syntax always gives one."""
    made_by = dict_of(kind)["__new__"]
    return getattr(getattr(made_by, "__func__", made_by), "__defaults__", None) is not None


def alike(one, other):
    """Whether two parts of classes are the same, or made by the same code of the same values."""
    if type(one) is not type(other):
        return False
    if type(one) in (classmethod, staticmethod):
        return alike(one.__func__, other.__func__)
    if type(one) is types.FunctionType:
        cells = [function.__closure__ or () for function in (one, other)]
        return len(cells[0]) == len(cells[1]) and all(
            map(alike, [*map(parts_of_function, cells[0]), *parts_of(one)], [*map(parts_of_function, cells[1]), *parts_of(other)])
        )
    if type(one) is FIELD:
        return one.__reduce__() == other.__reduce__()
    if type(one) in (tuple, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if type(one) is dict:
        return alike([*one.items()], [*other.items()])
    return one is other or type(one) in HASHED | {types.CodeType} and one == other


def parts_of_function(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return None


def parts_of(function):
    return (
        function.__code__, function.__defaults__, function.__kwdefaults__, vars(function), function.__name__, function.__qualname__,
        function.__doc__, function.__module__,
    )


MADE_WITH = vars(collections.namedtuple("Any", "field"))
OF_NAMEDTUPLES = MADE_WITH.keys() - OF_CLASS_SYNTAX - {"field"}
FIELD = type(MADE_WITH["field"])


# What no code of a program's hashes or compares.
HASHED = {type(None), bool, int, float, complex, str, bytes}
MAX_PERMUTED, MAX_ORDERED, LINEAR_PROBES, PERTURB_SHIFT, HASH_MASK = 4, 100, 9, 5, (1 << sys.hash_info.width) - 1


def is_hashed(item):
    return type(item) in HASHED or type(item) is tuple and all(map(is_hashed, item))


def row_of_set(contents):
    """The items of a set such that another one, filled with them, comes in the same order. Where none is found, they come as they
    are here."""
    if len(contents) < 2 or not all(map(is_hashed, contents)):
        return (0, *contents)
    for order in orders_of_filling(contents):
        for way in (0, 1, 2):
            row = (way, *order)
            if all(map(is_, set(filling(row)), contents)):
                return row
    return (0, *contents)


def orders_of_filling(contents):
    yield contents
    yield contents[::-1]
    if len(contents) <= MAX_ORDERED:
        for bits in range(3, len(contents).bit_length() + 4):
            if len(contents) <= 1 << bits:
                yield order_of_table(contents, (1 << bits) - 1)
    if len(contents) <= MAX_PERMUTED:
        yield from itertools.permutations(contents)


def order_of_table(contents, mask):
    """An order in which these items, put into a table of that size, may come to lie as they do: first those that lie where their hash
    says, which are the longest row of rising places, then each that finds a place between its neighbours."""
    homes, tails, before = [hash(item) & mask for item in contents], [], []
    for index, home in enumerate(homes):
        place = next((place for place, tail in enumerate(tails) if homes[tail] >= home), len(tails))
        before.append(tails[place - 1] if place else None)
        # Of those that belong in one place the first has it.
        if place == len(tails) or homes[tails[place]] > home:
            tails[place : place + 1] = [index]
    slots, index = {}, tails[-1]
    while index is not None:
        slots[index], index = homes[index], before[index]
    order, left = sorted(slots), [index for index in range(len(contents)) if index not in slots]
    taken = set(slots.values())
    while left:
        for index in left:
            slot = free_slot(hash(contents[index]) & HASH_MASK, mask, taken)
            if all((slots[other] < slot) == (other < index) for other in slots):
                break
        else:
            return contents
        slots[index] = slot
        taken.add(slot)
        order.append(index)
        left.remove(index)
    return tuple(map(contents.__getitem__, order))


def free_slot(perturb, mask, taken):
    slot = perturb & mask
    while True:
        for found in range(slot, slot + (LINEAR_PROBES if slot + LINEAR_PROBES <= mask else 0) + 1):
            if found not in taken:
                return found
        perturb >>= PERTURB_SHIFT
        slot = slot * 5 + 1 + perturb & mask


# Not empty once strings and numbers keep their identity in this process.
KEPT_IDENTITIES = []


def _fill_dict(found, items, kind=dict):
    """Only what differs changes, so that iterators over it live on as they do where the program is."""
    half = len(items) // 2
    keys, values, known = items[:half], items[half:], list(kind.keys(found))
    if len(items) != 2 * half:
        raise ProtocolError("a key without a value")
    if len(known) == half and (all(map(is_, known, keys)) if KEPT_IDENTITIES else same_all(known, keys)):
        for key, before, value in zip(known, list(kind.values(found)), values):
            if before is not value:
                kind.__setitem__(found, key, value)
        return
    kind.clear(found)
    for key, value in zip(keys, values):
        kind.__setitem__(found, key, value)


def _fill_ordered(found, items):
    _fill_dict(found, items, OrderedDict)


def _fill_defaultdict(found, items):
    found.default_factory = items[0]
    _fill_dict(found, items[1:])


# An iterator at its end for each deque that is shared, and how often others before it have found that the deque was changed other
# than by assignments to items, which ends loops over it. By the deque's id.
PROBES = {}


def _moves_of(found):
    probe, moves = PROBES.get(id(found), (None, 0))
    try:
        next(probe, None)
    except (RuntimeError, TypeError):
        _set_moves(found, (moves + (probe is not None)) % 256)
    return PROBES[id(found)][1]


def _set_moves(found, moves):
    probe = iter(found)
    deque(probe, 0)
    PROBES[id(found)] = probe, moves


def _fill_deque(found, items):
    _, moves, *items = items
    if len(found) != len(items) or moves != _moves_of(found):
        found.clear()
        found.extend(items)
        _set_moves(found, moves)
        return
    for place, (before, item) in enumerate(zip(list(found), items)):
        if before is not item:
            found[place] = item


def _fill_bytes(found, items):
    found[:] = items[0]


def _without_attributes(found):
    if vars(found):
        raise Uncrossable("a " + type(found).__name__ + " with attributes of its own")
    return found


def _without_views(found):
    """A view keeps a bytearray from growing, on the side that has it alone."""
    try:
        found.append(0)
    except BufferError:
        raise Uncrossable("a bytearray that something views") from None
    found.pop()
    return found


OrderedDict, defaultdict, deque = collections.OrderedDict, collections.defaultdict, collections.deque
KINDS = {
    list: Kind("list", tuple, lambda _: [], _fill_list),
    set: Kind("set", tuple, lambda _: set(), _fill_set, 1, row_of_set),
    dict: Kind("dict", lambda found: (*found.keys(), *found.values()), lambda _: {}, _fill_dict),
    collections.Counter: Kind(
        "Counter",
        lambda found: (*dict.keys(_without_attributes(found)), *dict.values(found)),
        lambda _: collections.Counter(),
        _fill_dict,
    ),
    OrderedDict: Kind(
        "OrderedDict",
        lambda found: (*OrderedDict.keys(_without_attributes(found)), *OrderedDict.values(found)),
        lambda _: OrderedDict(),
        _fill_ordered,
    ),
    defaultdict: Kind(
        "defaultdict",
        lambda found: (found.default_factory, *dict.keys(found), *dict.values(found)),
        lambda _: defaultdict(),
        _fill_defaultdict,
    ),
    deque: Kind("deque", lambda found: (found.maxlen, _moves_of(found), *found), lambda items: deque(maxlen=items[0]), _fill_deque, 2),
    bytearray: Kind("bytearray", lambda found: (bytes(_without_views(found)),), lambda _: bytearray(), _fill_bytes, 1),
}
MUTABLE = {kind.name: kind for kind in KINDS.values()}
VIEWED = {dict, collections.Counter, defaultdict}
VIEWS = {type(getattr({}, way)()): way for way in ("keys", "values", "items")}
IMMUTABLE_TYPES = {tuple, frozenset}
CONTAINERS = KINDS.keys() | IMMUTABLE_TYPES


# What nothing refers to cannot change. Of other kinds a weak reference may still lead there.
PARKABLE = {list, dict, bytearray}
# Contents that no object has: what it has must be sent.
UNKNOWN = (object(),)


def same(one, other):
    """Whether they are one object, or values without identity that nobody can tell apart."""
    kind = type(one)
    return one is other or kind is type(other) and kind in SCALARS and one == other


def same_all(before, now):
    # Most often they are the same objects, which is asked without a call of Python code for each.
    return len(before) == len(now) and (all(map(is_, before, now)) or all(map(same, before, now)))


def unchanged(before, now):
    """Whether contents of many objects are the same objects in the same order. `==` would take 1.0 for 1, and run code of theirs."""
    flat = itertools.chain.from_iterable
    return list(map(len, before)) == list(map(len, now)) and all(map(is_, flat(before), flat(now)))


# Those of what may tell that it has changed, though it is as long as before.
ITERATORS = {
    set: {type(iter(set()))},
} | dict.fromkeys(
    (dict, collections.Counter, defaultdict),
    {type(way(view)) for view in ({}.keys(), {}.values(), {}.items()) for way in (iter, reversed)},
)


def is_iterated(found):
    return any(type(other) in ITERATORS[type(found)] for other in gc.get_referrers(found))


class Objects:
    """One side's table of shared objects. `first` is 1 for the tests and 2 for the program, so that handles never collide."""

    def __init__(self, first):
        self.new_handle, self.parity = first, first % 2
        # Each side's own: a NaN equals itself only by identity.
        self.objects, self.handles = {0: math.nan}, {id(math.nan): 0}
        # Of the mutable ones, as of the last crossing: by type, so that many are compared in a few calls.
        self.contents = {kind: {} for kind in KINDS}
        self.parked = {}  # the same of those that the program does not refer to, until they are mentioned again
        self.errors = {}  # what was in each exception at the last crossing, by handle
        self.settled = set()  # handles of those that nothing else has referred to since
        self.entries, self.added, self.mentioned = [], [], set()
        self.is_rare = False  # whether the message may hold plain values of other types than the built-in ones
        self.is_audited = False  # whether either side may see what is sent by `marshal`, which tells the hooks of audits
        self.by_value = SCALARS  # types that cross without identity
        self.digits = limits_of_process()  # as both sides have them
        self.decimals = False  # whether a decimal number has been sent, whose arithmetic is the process's
        self.copied_classes = []  # those that have been sent, each with what they must still be
        self.words = set()  # of the tests' text, or the program's
        self.copies = {}  # of the objects whose changes the last message brought in vain, by handle

    def keep_all_identities(self):
        """From now on strings and numbers keep their identity too, which takes an entry each."""
        self.by_value = SINGLETONS
        KEPT_IDENTITIES.append(True)

    # Packing.

    def begin(self):
        self.entries, self.added, self.mentioned, self.is_rare = [], [], set(), False

    def attempt(self, pack):
        """What `pack()` returns. When it raises, nothing that it packed is sent."""
        entries, added = len(self.entries), len(self.added)
        try:
            return pack()
        except Exception as error:
            for handle, kind, _ in self.entries[entries:]:
                # What was there before and has been read now must be sent another time.
                if kind == "state":
                    self.errors[handle] = UNKNOWN
                else:
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
        PROBES.pop(id(found), None)
        self.handles.pop(id(found), None)
        self.contents.get(type(found), {}).pop(handle, None)
        self.parked.pop(handle, None)
        self.errors.pop(handle, None)

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
        row = kind.row(contents)
        if self.by_value is SCALARS and are_flat(row):
            items = list(row)
        else:
            items = [*row[: kind.raw], *(self.item_of(part, todo, 0) for part in row[kind.raw :])]
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
            row = found if kind is tuple else row_of_set(tuple(found))
            is_flat = self.by_value is SCALARS and are_flat(row)
            items = list(row) if is_flat else [self.item_of(part, todo, depth + 1) for part in row]
            return self.new(found, "tuple" if kind is tuple else "frozenset", items)
        if kind is str:
            return self.new(found, "text", [found, sys._is_interned(found)])
        if kind in VIEWS:
            # The dict is not to be had of a view but by the collector.
            owner = next((owner for owner in gc.get_referents(found) if type(owner) in VIEWED), None)
            if owner is not None:
                return self.new(found, "view", [VIEWS[kind], self.item_of(owner, todo, depth + 1)])
        if is_namedtuple(found):
            defaults = [self.item_of(part, todo, depth + 1) for part in dict_of(found)["_field_defaults"].values()]
            own = dict_of(found)
            texts = [name_of(found), own.get("__module__"), list(own["_fields"]), "__orig_bases__" in own]
            texts += [own["__doc__"], has_defaults(found)]
            for text in (own["__doc__"], texts[1]):
                check_text(text if type(text) is str else "")
            if type(texts[1]) is str and own.get("__qualname__", texts[0]) == found.__qualname__ == texts[0]:
                self.copied_classes.append((is_namedtuple, found))
                return self.new(found, "namedtuple", [*texts, *defaults])
        if only_renames(found):
            texts = [name_of(found), bases_of(found)[0].__name__, dict_of(found).get("__module__"), dict_of(found).get("__doc__")]
            if type(texts[2]) is str and type(texts[3]) in (str, type(None)) and found.__qualname__ == texts[0]:
                for text in texts[2:]:
                    check_text(text or "")
                self.copied_classes.append((only_renames, found))
                return self.new(found, "renaming class", texts)
        if only_renames(kind) and not has_fields(found):
            return self.new(found, "renamed", [self.item_of(part, todo, depth + 1) for part in (kind, EXACT[bases_of(kind)[0]](found))])
        if is_namedtuple(kind):
            return self.new(found, "named", [self.item_of(part, todo, depth + 1) for part in (kind, *tuple.__iter__(found))])
        if _veriplay.is_plain(found):
            self.decimals = self.decimals or kind is decimal.Decimal
            self.is_rare = self.is_rare or kind not in MARSHALLED
            if self.by_value is not SCALARS and kind in PARTS and (parts := PARTS[kind][0](found)):
                return self.new(found, "parts", [kind.__name__, *(self.item_of(part, todo, depth + 1) for part in parts)])
            # What does not equal itself is found by identity alone.
            sent = self.as_number(found)
            return None if sent is found and self.by_value is SCALARS and equals_itself(found) else self.new(found, "scalar", [sent])
        place = self.library_place(found)
        if place is not None:
            return self.new(found, "library", list(place))
        return self.describe_own(found, kind, todo, depth)

    def library_place(self, found):
        return library_place(found)

    def as_number(self, found):
        """What crosses for a plain value."""
        return found

    def describe_own(self, found, kind, todo, depth):
        raise Uncrossable("a value of type `" + type.__dict__["__name__"].__get__(kind) + "`")

    def new(self, found, kind, items):
        handle = self.add(found)
        self.entries.append((handle, kind, items))
        return handle

    def send_changes(self):
        """Packs the contents of each shared container that has changed."""
        if not all(is_same(kind) for is_same, kind in self.copied_classes):
            raise Uncrossable("a class that has changed since it crossed")
        changed = [handle for kind, before in self.contents.items() if before for handle in self.changed_among(kind, list(before))]
        for handle in changed:
            todo = []
            self.send(handle, todo)
            self.finish(todo)

    def changed_among(self, kind, handles):
        """Those of the handles of this type whose contents have changed. Mostly none has: all are compared at once, then each half."""
        if len(handles) == 1:
            before, now = self.contents[kind][handles[0]], KINDS[kind].contents(self.objects[handles[0]])
            # A bytearray's contents are an object made anew.
            is_same = before == now if kind is bytearray else len(before) == len(now) and all(map(is_, before, now))
            return [] if is_same else handles
        before = list(map(self.contents[kind].__getitem__, handles))
        now = list(map(KINDS[kind].contents, map(self.objects.__getitem__, handles)))
        if before == now if kind is bytearray else unchanged(before, now):
            return []
        half = len(handles) // 2
        return self.changed_among(kind, handles[:half]) + self.changed_among(kind, handles[half:])

    # Unpacking.

    def unpack(self, entries, ignored=()):
        """Takes over what the other side says of the objects. The `ignored` ones stay as they are here, and are sent back so: what
        refers to one in this message gets a copy that has changed."""
        if type(entries) is not list:
            raise ProtocolError("entries that are no list")
        mutable, states, self.copies = [], [], {}
        if not entries:
            return
        for handle, kind, payload in map(entry_of, entries):
            known = self.objects.get(handle)
            self.wake(handle)
            if kind == "state":
                states.append((handle, payload))
            elif kind == "digits":
                self.take_digits(payload)
            elif handle in self.objects:
                if type(known) not in KINDS or KINDS[type(known)].name != kind:
                    raise ProtocolError("new contents of an object of another kind")
            elif handle % 2 == self.parity or handle <= 0:
                raise ProtocolError("a handle that is not the sender's")
            elif kind in MUTABLE:
                self.learn(handle, MUTABLE[kind].make(payload))
            if kind in MUTABLE:
                mutable.append((handle, payload))
        for handle, kind, payload in entries:
            if kind not in MUTABLE and kind not in ("state", "digits"):
                self.learn(handle, self.made(handle, kind, payload))
        for handle, payload in mutable:
            if handle in ignored:
                self.copies[handle] = KINDS[type(self.objects[handle])].make(payload)
        for handle, payload in mutable:
            found = self.at((handle,))
            kind = KINDS[type(found)]
            before = tuple(found) if type(found) in ITERATORS else ()
            kind.fill(found, self.all_at(payload))
            if before and not same_all(before, now := tuple(found)) and len(before) == len(now) and is_iterated(found):
                self.disturbed(kind.name)
            self.set_contents(handle, UNKNOWN if handle in ignored else kind.contents(found))
        for handle, payload in states:
            if handle not in ignored or handle not in self.errors:
                self.fill_error(handle, payload)

    def disturbed(self, name):
        """A container has changed under an iterator over it, and has as many items as before. What the iterator does then hangs on how
        it changed, which nobody has been told."""
        raise NotImplementedError

    def errors_in_use(self):
        """Handles of exceptions that may have changed since this was last asked. What nothing else referred to then, and nobody was
        given since, cannot."""
        if not self.errors:
            return ()
        before, self.settled = self.settled, set(idle_among(self.objects, self.errors))
        return list(self.errors.keys() - (before & self.settled))

    def fill_error(self, handle, payload):
        raise ProtocolError("the state of an exception of the other side's")

    def send_digits(self):
        """How long a number may be in digits, and how deep calls, is the process's. Both sides keep to what either sets."""
        now = limits_of_process()
        if self.digits != now:
            self.digits = now
            self.entries.append((0, "digits", list(now)))

    def take_digits(self, payload):
        try:
            digits, depth = payload
            sys.set_int_max_str_digits(digits)
            sys.setrecursionlimit(depth)
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise ProtocolError("no limit of digits or depth") from None
        self.digits = limits_of_process()

    def learn(self, handle, found):
        if handle in self.objects:
            raise ProtocolError("two objects of one handle")
        self.objects[handle] = found
        self.handles.setdefault(id(found), handle)

    def made(self, handle, kind, payload):
        if kind in IMMUTABLE:
            return IMMUTABLE[kind](self.all_at(payload))
        if kind == "scalar":
            return self.received(copied(*payload))
        if kind == "parts":
            return made_of_parts(payload[0], [*map(self.at, payload[1:])])
        if kind == "text":
            text, interned = payload
            return sys.intern(text) if interned else copied(text)
        if kind == "library":
            return library_object(*payload)
        if kind == "view":
            way, owner = payload[0], self.at(payload[1])
            if way not in VIEWS.values() or type(owner) not in VIEWED:
                raise ProtocolError("a view of no dict")
            return getattr(dict, way)(owner)
        if kind == "namedtuple":
            name, module, fields, is_annotated, doc, with_defaults, *defaults = payload
            if is_annotated and not self.words.isdisjoint(ANNOTATIONS):
                self.spoil("unjudgeable", "the tests ask for the annotations of a named tuple of the program's")
            made = named_tuple(name, fields, [*map(self.at, defaults)], module, doc, with_defaults)
            if not is_namedtuple(made):
                raise ProtocolError("a named tuple that is none")
            return made
        if kind == "named":
            made, *items = map(self.at, payload)
            if not is_namedtuple(made) or len(items) != len(dict_of(made)["_fields"]):
                raise ProtocolError("a named tuple that is none")
            return tuple.__new__(made, items)
        if kind == "renaming class":
            name, base, module, doc = payload
            base = next((known for known in EXACT if known.__name__ == base), None)
            if base is None:
                raise ProtocolError("a class of no known base")
            return type(name, (base,), {"__module__": module, "__doc__": doc})
        if kind == "renamed":
            made, value = map(self.at, payload)
            if not only_renames(made) or type(value) is not bases_of(made)[0]:
                raise ProtocolError("a value of another class")
            return type(value).__new__(made, value)
        return self.made_here(handle, kind, payload)

    def made_here(self, handle, kind, payload):
        raise ProtocolError("an object of kind `" + str(kind) + "`")

    def all_at(self, items):
        return list(items) if BUILT_IN.issuperset(map(type, items)) else list(map(self.at, items))

    def at(self, item):
        """The object of an item."""
        if type(item) is not tuple:
            if type(item) in CONTAINERS:
                raise ProtocolError("a container without a handle")
            return item if type(item) in BUILT_IN else self.received(item)
        if not item:
            return item
        handle = item[0]
        if len(item) != 1 or type(handle) is not int or handle not in self.objects:
            raise ProtocolError("a handle of no object")
        if handle in self.parked:
            self.wake(handle)
        self.settled.discard(handle)
        return self.copies.get(handle, self.objects[handle])

    def received(self, found):
        """A plain value that the other side sent."""
        return found

    # Forgetting.

    def drop_all(self, handles):
        for handle in handles:
            self.drop(handle)


def are_flat(row):
    """Whether all of it crosses by value, as it is. Most contents do, and are asked in a few calls."""
    kinds = set(map(type, row))
    if not kinds <= FLAT:
        return False
    if float in kinds and any([part != part for part in row]):
        return False
    return str not in kinds or all([part.isascii() for part in row if type(part) is str])


def made_of_parts(name, parts):
    """A value of plain types whose parts have an identity of their own."""
    make = next((make for kind, (_, make) in PARTS.items() if kind.__name__ == name), None)
    found = make and make(*parts)
    if found is None or not _veriplay.is_plain(found):
        raise ProtocolError("a value of other parts")
    return found


def fraction_of(numerator, denominator):
    if type(numerator) is type(denominator) is int and denominator > 0 and math.gcd(numerator, denominator) == 1:
        return fractions.Fraction._from_coprime_ints(numerator, denominator)
    return None


def with_zone(found):
    """The value without its time zone, and the zone; nothing where it has none."""
    return found.tzinfo and (found.replace(tzinfo=None), found.tzinfo)


def in_zone(found, zone):
    return found.replace(tzinfo=zone) if type(found) in ZONED and type(zone) is datetime.timezone else None


# Types of which a value is what it says, whoever sent it.
BUILT_IN = frozenset({int, str, float, bool, complex, bytes, type(None)})

# Those of them that `marshal` sends as the host reads it.
MARSHALLED = BUILT_IN - {complex}

# Plain values whose parts may be looked at, by type: what the parts are, and how they make one.
ZONED = {datetime.datetime, datetime.time}
PARTS = dict.fromkeys(ZONED, (with_zone, in_zone)) | {
    range: (lambda found: (found.start, found.stop, found.step), lambda *parts: range(*parts) if set(map(type, parts)) == {int} else None),
    fractions.Fraction: (lambda found: (found.numerator, found.denominator), fraction_of),
}

get_depth, get_digits = sys.getrecursionlimit, sys.get_int_max_str_digits


def limits_of_process():
    return get_digits(), get_depth()


def references(objects, handles):
    return map(sys.getrefcount, map(objects.__getitem__, handles))


IDLE = max(references({1: [], 2: set()}, (1, 2)))
# So many objects are looked at without asking whether they need be.
SWEEP = 32


def idle_among(objects, handles):
    """Those of the handles whose objects nothing but the table refers to."""
    idle = [handle for handle, count in zip(handles, references(objects, handles)) if count <= IDLE]
    if PROBES:
        probed = [handle for handle in handles if type(objects[handle]) is deque and id(objects[handle]) in PROBES]
        idle += itertools.compress(probed, map((IDLE + 1).__ge__, references(objects, probed)))
    return idle


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


# Functions of the library that do the same wherever they are called, and have no say in what they are given.
SAFE_BUILTINS = {
    "abs", "all", "any", "ascii", "bin", "callable", "chr", "divmod", "format", "hex", "isinstance", "issubclass", "iter", "len", "max",
    "min", "oct", "ord", "pow", "repr", "round", "sorted", "sum",
}
SAFE_MODULES = {"math", "cmath"}
# Of these no method changes what it is given. Those that `operator` has may.
CONSTANT_TYPES = {str, bytes, int, float, complex, tuple, frozenset}
CHANGES = {"setitem", "delitem"}
PLACED = (type, types.BuiltinFunctionType, types.FunctionType, types.MethodDescriptorType)


def is_library(name):
    return type(name) is str and name.partition(".")[0] in sys.stdlib_module_names


# What the library's modules have before any program runs, which may put its own things in their places.
GENUINE = {
    name: {key: found for key, found in vars(module).items() if issubclass(type(found), PLACED)}
    for name, module in sys.modules.items()
    if is_library(name) and type(module) is types.ModuleType
}


def is_genuine(found, module, name):
    """Whether it is what the library has at that place, as far as anybody can know: of a module that the program has imported itself,
    that it comes from the library."""
    if module in GENUINE:
        first, _, rest = name.partition(".")
        owner = GENUINE[module].get(first)
        return owner is None or (attribute_at(owner, rest) if rest else owner) is found
    origin = getattr(getattr(sys.modules.get(module), "__spec__", None), "origin", None)
    return type(origin) is str and (origin in ("built-in", "frozen") or origin.startswith(LIBRARY))


LIBRARY = "/usr/local/lib/"


def library_place(found):
    """(module, name) of a class, function or module of the standard library; None for all else. The other side takes its own."""
    if type(found) is types.ModuleType:
        name = found.__dict__.get("__name__")
        return (name, "") if is_library(name) and sys.modules.get(name) is found else None
    if not issubclass(type(found), PLACED):
        # `typing.List` and its kind.
        name = getattr(found, "_name", None) if is_typing(type(found)) else None
        return ("typing", name) if type(name) is str and vars(typing).get(name) is found else None
    if found is types.NoneType:
        return ("types", "NoneType")
    if type(found) is types.MethodDescriptorType:
        # One of a built-in type: `str.upper`.
        name = found.__qualname__
        return ("builtins", name) if attribute_at(builtins, name) is found else None
    module, name = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    if type(module) is not str or type(name) is not str or not is_library(module):
        return None
    return (module, name) if attribute_at(sys.modules.get(module), name) is found else None


def name_at(place):
    module, name = place
    return name or module


def is_typing(kind):
    return type.__dict__["__module__"].__get__(kind) == "typing" and kind is vars(typing).get(name_of(kind))


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
        if not isinstance(found, PLACED) and not is_typing(type(found)):
            raise ProtocolError("a name of the library that is no class and no function")
    return found


def is_safe(found, module, name):
    """Whether an object of the library is what it is called, whatever is done with it."""
    if type(found) is types.MethodDescriptorType:
        return found.__objclass__ in CONSTANT_TYPES
    if type(found) is types.BuiltinFunctionType:
        if module == "_operator":
            return name not in CHANGES and not name.startswith("i") or name in ("index", "inv", "invert", "is_", "is_not", "indexOf")
        return module in SAFE_MODULES or module == "builtins" and name in SAFE_BUILTINS
    if type(found) is not type:
        return False
    return module == "builtins" or found is types.NoneType or issubclass(found, BaseException) and module.partition(".")[0] not in RUNNERS


class Unjudgeable(BaseException):
    """Ends a test that cannot be judged. What the test's code does about it changes nothing: the caller remembers."""


# Exceptions.

# Set apart from the descriptors of one class: what each exception has.
ARGUMENTS, CAUSE, CONTEXT, SUPPRESSED, ATTRIBUTES = (
    BaseException.__dict__[name] for name in ("args", "__cause__", "__context__", "__suppress_context__", "__dict__")
)
# Not state: the tests' own, or what an exception is made with.
NO_STATE = {"args", "__cause__", "__context__", "__suppress_context__", "__dict__", "__traceback__", "__weakref__", "message", "exceptions"}
FIELDS = {type(BaseException.args), type(OSError.errno)}
BY_CLASS = {}


def fields_of(kind):
    """`(name, descriptor)` of what the library's classes among its bases keep beside arguments and attributes."""
    if kind not in BY_CLASS:
        found = {}
        for base in reversed(kind.__mro__):
            if type(base) is type and library_place(base):
                found.update((name, part) for name, part in dict_of(base).items() if type(part) in FIELDS and name not in NO_STATE)
        BY_CLASS[kind] = sorted(found.items())
    return BY_CLASS[kind]


def field(error, part):
    try:
        return part.__get__(error)
    except (AttributeError, TypeError):
        return None  # one that was not set


def state_of(error, with_context=True):
    """What an exception is, in a row."""
    arguments, attributes = ARGUMENTS.__get__(error), ATTRIBUTES.__get__(error)
    fields = [field(error, part) for _, part in fields_of(type(error))]
    context = CONTEXT.__get__(error) if with_context else None
    ends = (type(error), CAUSE.__get__(error), context, SUPPRESSED.__get__(error))
    return (*ends, *fields, len(arguments), *arguments, *attributes, *attributes.values())


# Special methods that are asked for where the program is, by the operation of Python's that calls them, and the type of what that
# gives. All others of the program's could be told what is expected, or make of the exception what it is not.
ASKED = {
    "__str__": (str, str),
    "__repr__": (repr, str),
    "__format__": (format, str),
    "__bool__": (bool, bool),
    "__len__": (len, int),
    "__hash__": (hash, int),
    "__int__": (int, int),
    "__float__": (float, float),
    "__index__": (operator.index, int),
}
# Those that are for the program alone, or that every class has.
UNASKED = {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__init__", "__new__", "__del__", "__init_subclass__"}
UNASKED |= {"__getattr__", "__set_name__", "__class_getitem__", "__slots__", "__annotations__", "__annotate__", "__annotate_func__"}
UNASKED |= {"__annotations_cache__", "__firstlineno__", "__static_attributes__", "__type_params__", "__orig_bases__", "__match_args__"}


def own_names(kind):
    """What a class of the program's adds to its bases: the names that are asked for there, and whether it says that it has no hash.
    Bases that are no exceptions are part of it. What becomes of each name, the tests' side decides."""
    names, hashes = {}, True
    for part in (kind, *mixed_into(kind)):
        for name, found in dict_of(part).items():
            if name in UNASKED or name in names:
                continue
            names[name] = None
            hashes = hashes and not (name == "__hash__" and found is None)
    return list(names), hashes


def mixed_into(kind):
    return [part for base in bases_of(kind) if not issubclass(base, BaseException) for part in base.__mro__[:-1]]


def is_special(name):
    return name.startswith("__") and name.endswith("__")


# What tests ask of functions and classes by their special names. By any other the library asks what an object is (`__array_interface__`,
# `__index__`), and the program's answer would decide what the tests compare: an object in place of the program's has none.
ASKED_BY_NAME = {
    "__name__", "__qualname__", "__doc__", "__module__", "__dict__", "__wrapped__", "__defaults__", "__kwdefaults__", "__annotations__",
    "__annotate__", "__code__", "__closure__", "__globals__", "__self__", "__func__", "__type_params__", "__signature__",
    "__text_signature__", "__match_args__", "__class_getitem__", "__notes__", "__cause__", "__context__", "__suppress_context__", "__traceback__",
}


def is_kept_back(name):
    """Whether an attribute of an exception stays with the program."""
    return is_special(name) and name not in ASKED_BY_NAME


def refuse_special(found, name):
    """What `found` stands for has no such attribute as far as the tests can tell."""
    if is_special(name) and name not in ASKED_BY_NAME and not hasattr(object, name):
        raise AttributeError("'" + type(found).__name__ + "' object has no attribute '" + name + "'", name=name, obj=found)


class StandIn(type):
    """The type of classes in place of the program's classes of exceptions: of the same bases, and known by their handles. Making an
    instance, and all that the program's class adds, is asked for there."""

    caller = None

    def __new__(meta, name, bases, names, **_):
        meta.caller.spoil("unjudgeable", "the tests derive `" + str(name) + "` from a class of the program's")

    def __call__(cls, /, *arguments, **keywords):
        return StandIn.caller.call(StandIn.caller.handle_of_class(cls), arguments, keywords)

    def __getattribute__(cls, name):
        if name == "__class__":
            return type
        if name in LOCAL:
            if name in OF_BASES and any(id(base) in StandIn.caller.mixed for base in type.__getattribute__(cls, "__mro__")):
                StandIn.caller.spoil("unjudgeable", "the tests ask for the bases of a class of the program's, of which some do not cross")
            return type.__getattribute__(cls, name)
        if name in ("__dict__", "__subclasses__"):
            StandIn.caller.spoil("unjudgeable", "the tests look into a class of the program's")
        refuse_special(cls, name)
        return StandIn.caller.attribute(StandIn.caller.handle_of_class(cls), name)

    def __setattr__(cls, name, _):
        StandIn.caller.spoil("unjudgeable", "the tests set attribute `" + str(name) + "` of the program's class")

    __delattr__ = lambda cls, name: StandIn.__setattr__(cls, name, None)

    def __dir__(cls):
        return StandIn.caller.operate("dir", cls)


OF_BASES = {"__mro__", "__bases__", "__base__", "mro"}
LOCAL = OF_BASES | {"__class__", "__name__", "__qualname__", "__module__", "__flags__"}


class Asked:
    """An attribute that the program's class defines, of a class in its place."""

    def __init__(self, name):
        self.name = name

    def __get__(self, error, _kind=None):
        return StandIn.caller.attribute_of_error(error, self.name)

    def __set__(self, error, _):
        StandIn.caller.spoil("unjudgeable", "the tests set attribute `" + self.name + "` of the program's exception")

    def __delete__(self, error):
        self.__set__(error, None)


class Deciding:
    """A special attribute of the program's class that would decide what the tests are about, whatever it is there."""

    def __init__(self, name):
        self.name = name

    def __get__(self, _error, _kind=None):
        StandIn.caller.spoil("unjudgeable", "`" + self.name + "` of the program's exception would decide")

    __call__ = __set__ = __delete__ = lambda self, *_: self.__get__(None)


def asked_method(name):
    """A special method in place of the program's."""

    def method(error, *arguments):
        found = StandIn.caller.operate("special", error, name, *arguments)
        if type(found) is not ASKED[name][1]:
            StandIn.caller.spoil("unjudgeable", "`" + name + "` of the program's exception gives no plain value")
        return found

    method.__name__ = name
    return method


def in_place_of(name):
    """What a class of the tests' own has where one of the program's says to define `name`."""
    if type(name) is not str:
        raise ProtocolError("a name that is no text")
    if not is_special(name) or name == "__doc__":
        return Asked(name)
    return asked_method(name) if name in ASKED else Deciding(name)


def asked_unless_special(error, name):
    refuse_special(error, name)
    return StandIn.caller.attribute_of_error(error, name)


def asked_or_missing(error, name):
    # The library looks for many that nobody has.
    if name.startswith("__"):
        raise AttributeError("'" + type(error).__name__ + "' object has no attribute '" + name + "'", name=name, obj=error)
    return StandIn.caller.attribute_of_error(error, name)


# Code that names one of these may find an attribute without naming it.
ENUMERATES = {"__dict__", "vars", "dir", "getmembers", "copy", "deepcopy", "pickle", "__reduce__", "__reduce_ex__", "__getstate__", "attrgetter"}
ANNOTATIONS = {"__annotations__", "__orig_bases__", "get_type_hints", "get_annotations", "signature", "__annotate__"}
TRACES = {"__traceback__", "tb_frame", "tb_next", "tb_lineno", "extract_tb", "walk_tb", "format_tb", "format_exc", "format_exception"}
TRACES |= {"TracebackException", "print_exc", "print_exception", "print_tb", "print_last", "print_list", "formatException", "exc_text"}
TRACES = (*sorted(TRACES), "getinnerframes", "inspect trace", "StackSummary")


# What a text names that may show that there are two processes. It makes no test unjudgeable that passes, which it must do in one
# process as well; a test that fails may fail by it.
DOUBTS = {
    "frames of callers": (
        "_getframe", "_getframemodulename", "currentframe", "f_back", "extract_stack", "walk_stack", "print_stack", "format_stack",
        "getouterframes", "inspect stack", "StackSummary",
    ),
    "how long objects live": (
        "__del__", "weakref", "WeakSet", "WeakKeyDictionary", "WeakValueDictionary", "WeakMethod", "finalize", "getrefcount",
    ),
    "the subclasses of a class": ("__subclasses__",),
}


class Pattern:
    """A pattern that a text cannot match without one of these words, which are sought first: it takes longer to search. It is compiled
    with the image."""

    def __init__(self, words, pattern):
        self.words, self.pattern = frozenset(words.split()), re.compile(pattern, re.MULTILINE)

    def is_in(self, text, words):
        return not self.words.isdisjoint(words) and self.pattern.search(text) is not None


DOUBTFUL = {
    "special attributes of its own": Pattern(
        "__call__ __copy__ __deepcopy__ __get__ __name__ __package__ __spec__ __loader__ __file__",
        r"\.__(call|copy|deepcopy|get)__\s*=[^=]|^__(name|package|spec|loader|file)__\s*=[^=]",
    ),
    "what numbers are made of": Pattern(
        "_numerator _denominator _int _exp _sign _is_special", r"[.'\"]_(numerator|denominator|int|exp|sign|is_special)\b"
    ),
}
RAISES_AGAIN = Pattern("raise", r"\braise[ \t]*([#;].*)?$")
ASKS_FOR_ID = Pattern("id", r"(?<![\w.])id\(")
NAMES_AN_IDENTITY = Pattern("id is_ is_not", r"(?<![\w.'\"])id\s*([(),\]}]|$)|\bbuiltins\W+id\b|\bis_(not)?\b")
WORD = re.compile(r"\w+")


def doubts_of(text, words):
    return DOUBTING.named(words) + [label for label, pattern in DOUBTFUL.items() if pattern.is_in(text, words)]


# The process.


def words_of(text):
    return set(WORD.findall(text))


LEVELS = 8  # names that `logging` begins with
OF_LOGGERS = {"name", "level", "parent", "propagate", "handlers", "disabled", "filters", "_cache", "manager", "loggerMap"}


def logged():
    """Of `logging`, what is not as it is when imported."""
    logging = sys.modules.get("logging")
    if logging is None:
        return ()
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    rows = []
    for logger in loggers:
        of = vars(logger).get
        own = vars(logger).keys() - OF_LOGGERS
        if own or of("handlers") or of("filters") or of("level", 0) not in (0, 30) or of("disabled") or of("propagate") is False:
            rows += [of("name"), of("level"), of("disabled"), of("propagate"), *of("handlers", ()), *of("filters", ())]
            rows += [part for name in sorted(own) for part in (name, of(name))]
    names = logging.getLevelNamesMapping()
    if len(names) != LEVELS:
        rows += [*names, *names.values()]
    return (*rows, logging.root.manager.disable, logging.raiseExceptions) if rows or logging.root.manager.disable else ()


# As they are before the tests' own are watched.
get_context, working_directory = decimal.getcontext, os.getcwd


def decimal_context():
    context = get_context()
    return (context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, *context.traps.values())


CSV_FIELD = 131_072


def dialects():
    csv = sys.modules.get("csv")
    if csv is None:
        return ()
    found = (*sorted(set(csv.list_dialects()) - {"excel", "excel-tab", "unix"}), csv.field_size_limit())
    # As one that has just been imported has it.
    return () if found == (CSV_FIELD,) else found


def stream(name):
    """One of the standard streams, how it writes, and what has been set in it."""
    found = getattr(sys, name)
    of = getattr(found, "__dict__", {})
    traits = [getattr(found, trait, None) for trait in ("closed", "encoding", "errors", "newlines", "line_buffering", "write_through")]
    return (found, *traits, *of.keys(), *of.values())


def signal_handlers():
    signal = sys.modules.get("signal")
    return () if signal is None else tuple(map(signal.getsignal, sorted(signal.valid_signals())))


def context_variables():
    found = contextvars.copy_context()
    return tuple(part for variable in found if variable.name != "decimal_context" for part in (variable, found[variable]))


def pickled():
    copyreg = sys.modules.get("copyreg")
    return () if copyreg is None else tuple(copyreg.dispatch_table)


DECIMALS = "the context of decimals"
# What both sides would share if they were one process: how it is read, the words by which code names it (all of one group), and
# whether what the tests change of it matters whatever the program names.
STATE = {
    "sys.stdout": (lambda: stream("stdout"), ("stdout", "redirect_stdout", "print"), True),
    "sys.stderr": (lambda: stream("stderr"), ("stderr", "redirect_stderr"), True),
    "sys.stdin": (lambda: stream("stdin"), ("stdin", "input"), True),
    "the working directory": (lambda: (working_directory(),), ("getcwd", "chdir", "open", "Path", "listdir", "abspath", "exists"), False),
    "the handlers of signals": (signal_handlers, ("signal", "getsignal", "raise_signal"), False),
    "the variables of contexts": (context_variables, ("contextvars", "ContextVar", "copy_context"), False),
    "the filters of warnings": (
        lambda: (warnings.filters, *warnings.filters, warnings.showwarning, vars(warnings).get("_showwarnmsg_impl")),
        ("warnings", "warn"),
        True,
    ),
    "sys.argv": (lambda: tuple(sys.argv), ("argv",), True),
    "sys.path": (lambda: tuple(sys.path), ("sys path",), False),
    "what finds modules": (
        lambda: (sys.meta_path, *sys.meta_path, sys.path_hooks, *sys.path_hooks), ("meta_path", "path_hooks"), False
    ),
    "the collector of garbage": (lambda: (gc.isenabled(), *gc.get_threshold(), gc.get_debug()), ("gc",), False),
    "the hooks of sys": (
        lambda: (sys.excepthook, sys.displayhook, sys.unraisablehook, sys.breakpointhook),
        ("excepthook", "displayhook", "unraisablehook", "breakpointhook"),
        False,
    ),
    "what traces calls": (lambda: (sys.getprofile(), sys.gettrace()), ("setprofile", "settrace", "getprofile", "gettrace"), True),
    DECIMALS: (decimal_context, ("decimal", "Decimal", "getcontext"), True),
    "what is logged": (logged, ("logging", "getLogger", "assertLogs"), False),
    "the dialects of csv": (dialects, ("csv",), False),
    "how objects are pickled": (pickled, ("copyreg", "pickle", "copy"), False),
    "how often threads switch": (lambda: (str(sys.getswitchinterval()),), ("getswitchinterval", "setswitchinterval"), False),
}
# Nobody can read these: code that names the first words changes them, code that names the second would see it.
UNREADABLE = {
    "the handlers of encoding errors": (
        ("register_error", "codecs register"), ("encode", "decode", "codecs", "bytes", "bytearray", "open", "str")
    ),
    "the locale": (("setlocale",), ("locale", "strftime", "strxfrm", "strcoll", "format")),
}


# Not state, and not shared: what the program names of it is told to the tests' side.
HANDLED, ADDRESSES, IDENTITIES, HASHES, AUDITED = (
    "the exception that is handled", "addresses of objects", "identities of values", "hashes of objects", "hooks of audits"
)
ASKS_FOR_HANDLED = ("exception", "exc_info", "format_exc", "print_exc", "print_exception", "last_exc", "logging", "traceback", "__context__")


def asks_which_it_is(source, words):
    """Whether a program asks which of two values it has, where neither is one that there is once."""
    if NAMES_AN_IDENTITY.is_in(source, words) or asks_object(words):
        return True
    if "is" not in words:
        return False
    if not words.isdisjoint(COMPILES):
        return True
    try:
        todo = [compile(source, "program", "exec", ONLY_TREE, dont_inherit=True)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    while todo:
        node = todo.pop()
        if type(node).__name__ == "Compare":
            operands = [node.left, *node.comparators]
            for operator_, one, other in zip(node.ops, operands, operands[1:]):
                if type(operator_).__name__ in ("Is", "IsNot") and not (is_once(one) or is_once(other)):
                    return True
        for name in node._fields:
            part = getattr(node, name, None)
            todo += [found for found in (part if type(part) is list else [part]) if hasattr(found, "_fields")]
    return False


def asks_object(words):
    """Whether code calls what every object has, whatever its class does."""
    return "object" in words and not words.isdisjoint(("__eq__", "__ne__", "__hash__", "__repr__", "__str__"))


# Built-in functions that compile texts.
COMPILES = {"eval", "exec", "compile"}


def is_once(node):
    if type(node).__name__ == "Constant":
        return node.value is None or node.value is ... or type(node.value) is bool
    return type(node).__name__ == "Name" and type(vars(builtins).get(node.id)) is type


# The flag by which `compile` gives a syntax tree.
ONLY_TREE = 0x400


# Words of each, for who would see a change. The program's alone: the tests' own imports and draws are no change.
WORDS = {label: words for label, (_, words, _) in STATE.items()} | {label: words for label, (_, words) in UNREADABLE.items()}
# Decimal numbers that cross bring their arithmetic along: no word is needed.
WORDS |= {"sys.modules": ("sys modules",), "the seed of random": ("random",), "what decimal numbers come to": ("",)}
NAMESPACE = "the names of its module"
# Of what tests do not name, these are nothing to them.
UNDOUBTED = {"the seed of random"}


class Groups(dict):
    """Groups of words by the texts that list them: those of one word, in one set, and the sets of the others."""

    def __missing__(self, texts):
        groups = [frozenset(text.split()) for text in texts]
        found = self[texts] = frozenset().union(*(group for group in groups if len(group) == 1)), [group for group in groups if len(group) != 1]
        return found


GROUPS = Groups()


def names_any(words, groups):
    """Whether all words of one of the groups are there."""
    single, others = GROUPS[groups]
    return not single.isdisjoint(words) or any(map(words.issuperset, others))


class Labels:
    """Groups of words by label. To find which labels a text names takes no longer for more of them."""

    def __init__(self, groups_by_label):
        self.labels, self.unnamed, self.by_word = tuple(groups_by_label), set(), {}
        for label, groups in groups_by_label.items():
            for first, *others in map(str.split, filter(None, groups)):
                self.by_word.setdefault(first, []).append((label, frozenset(others)))
            if "" in groups:
                self.unnamed.add(label)

    def named(self, words):
        """Those of which all words of a group are there, in order."""
        hits = self.by_word.keys() & words
        found = {label for word in hits for label, others in self.by_word[word] if words.issuperset(others)} | self.unnamed
        return [label for label in self.labels if label in found] if found else []


STATES, TRIGGERS, DOUBTING = Labels(WORDS), Labels({label: triggers for label, (triggers, _) in UNREADABLE.items()}), Labels(DOUBTS)
for listed in (*WORDS.values(), TRACES, ASKS_FOR_HANDLED):
    names_any(frozenset(), listed)


def drawn():
    """The state of what draws numbers for the whole process: `random`, and that of numpy's where it is there."""
    numpy = sys.modules.get("numpy.random.mtrand")
    if numpy is None:
        return random.getstate(), None
    kind, keys, *rest = numpy.get_state()
    return random.getstate(), (kind, keys.tobytes(), *rest)


def state_of_process(labels=STATE):
    found = {}
    for label in labels:
        try:
            found[label] = STATE[label][0]()
        except Exception:
            found[label] = UNKNOWN
    return found


def changed_state(before, labels=STATE):
    now = state_of_process(labels)
    return [label for label in labels if not same_all(before[label], now[label])]


class Image:
    """What each process begins with."""

    state, builtins = {}, {}

    @classmethod
    def note(cls):
        cls.state, cls.builtins = state_of_process(), dict(vars(builtins))


class Caller(Objects):
    """The tests' side: asks the program, and remembers what keeps the test under way from being judged.

    With `unseen`, changes that a call makes to the tests' own objects are taken over only where its result is thrown away.
    """

    def __init__(self):
        super().__init__(1)
        self.unseen = False
        self.trouble = None  # (word, why) of the test under way
        self.lasting = None  # the same, of this and all later ones
        self.doubted = None  # why a test that fails from now on may be right
        self.testing = False  # whether a test is under way: what happens before or between tests lasts
        self.asked = 0  # how often the tests have asked the program for anything
        self.borrowed = {}  # places in the library of objects that cross by their name alone, by handle
        self.thrown_away = False  # whether nothing that could move what is expected is made of the result of the call under way
        self.fresh = ()  # ids of objects that nothing but the call under way refers to
        self.ever_given = set()  # handles of what has been passed in any call, and what was in it
        self.given = ()  # what is passed in it
        self.recent = ()  # handles of what the last call or its reply has mentioned, and what was in it
        self.sweep_at = SWEEP  # how many objects are looked at before those are sought that need not be
        self.changed = False  # whether a call whose result counts changed an object of the tests'
        self.check_process = lambda: None
        self.lend = lambda place: None
        self.modules_imported = lambda: None
        self.tell_names = lambda told: None
        self.attributes = set()  # those of them that name attributes
        self.modules_named = set()  # names that the tests look into, as modules of the library are called, and do not bind
        self.seen = ()  # labels of `STATE` that the tests' text names
        self.words_of_program = set()  # the same of the program's
        self.knows_numpy = False  # whether the tests may ask a scalar of numpy's what only that has
        self.of_library = set()  # handles of functions of the library that are called where the program is
        self.mixed = set()  # ids of classes in place of those that have bases which do not cross
        self.taking_over = False  # whether a message is being read: what asks the program meanwhile would find it half read
        StandIn.caller = self

    def spoil(self, word, why, lasting=False):
        self.note(word, why, lasting)
        raise Unjudgeable(why)

    def note(self, word, why, lasting=False):
        self.trouble = self.trouble or (word, why)
        if lasting or not self.testing:
            self.lasting = self.lasting or (word, why)

    def doubt(self, why):
        self.doubted = self.doubted or why

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

    def borrow(self, name):
        """The same where the program has that name. `Uncrossable` where it means what cannot cross."""
        return self.ask("borrow", name)

    def public_names(self):
        """Those that `import *` binds."""
        return self.ask("star", "")

    def all_names(self):
        """Those of the program's module."""
        return self.ask("names", "")

    def read(self, words):
        """Takes note of the words of the tests' text."""
        self.words, self.is_audited = words, "addaudithook" in words
        self.seen = tuple(label for label in STATES.named(words) if label in STATE)

    def watch(self, names, options):
        """Asks to be told what these names stand for, now and whenever that changes, and what the tests name of the state of the process. Of
        the options "identities" gives strings and numbers an identity, and "random" keeps the program from drawing."""
        self.words_of_program = set(self.ask("watch", (tuple(options), self.seen), names).split("\n"))
        self.is_audited |= AUDITED in self.words_of_program
        if "identities" in options or IDENTITIES in self.words_of_program:
            self.keep_all_identities()
        for label in itertools.chain(DOUBTS, DOUBTFUL):
            if label in self.words_of_program:
                self.doubt("the program looks at " + label)

    def missing(self, name):
        return "the program does not define `" + str(name) + "`"

    def attribute(self, handle, name):
        self.thrown_away, self.fresh = True, ()
        return self.ask("attribute", (handle,), (name,))

    def attribute_of_error(self, error, name):
        if id(error) not in self.handles:
            self.spoil("unjudgeable", "the tests make an exception of the program's class that the program does not know")
        return self.attribute(self.handles[id(error)], name)

    def handle_of_class(self, kind):
        return self.handles[id(kind)]

    def operate(self, operation, *arguments):
        self.thrown_away, self.fresh = True, ()
        return self.ask("operate", operation, arguments)

    def ask(self, action, target, arguments=(), keywords={}):
        self.asked += 1
        if self.lasting:
            self.spoil(*self.lasting)
        if self.taking_over:
            self.spoil("unjudgeable", "a key that asks the program for its hash", lasting=True)
        self.check_process()
        for handle in self.errors_in_use():
            if not same_all(self.errors[handle], state_of(self.objects[handle], with_context=False)):
                self.spoil("unjudgeable", "the tests change an exception of the program's")
        self.begin()
        self.given = (*arguments, *keywords.values())

        def pack():
            items = [self.item(argument) for argument in arguments]
            for name in (*keywords, target) if type(target) is str else keywords:
                check_text(name)
            keyword_items = {name: self.item(argument) for name, argument in keywords.items()}
            self.send_changes()
            return items, keyword_items

        handled = sys.exception()
        if is_deep():
            self.doubt("the tests call the program from deep calls of their own, which it does not count")
        try:
            items, keyword_items = self.attempt(pack)
        except Uncrossable as error:
            self.spoil("unjudgeable", "what the tests pass cannot cross to the program: " + error.args[0])
        if handled is not None:
            self.send_handled(handled)
        idle = self.idle()
        self.send_digits()
        request = ("share", action, target, items, keyword_items, self.entries, idle)
        known = len(sys.modules)
        try:
            reply = _veriplay.ask_callee(request, action == "watch" or self.is_rare or self.is_audited)
        except _veriplay.CalleeError as error:
            self.spoil("error", "the program left the protocol: " + ": ".join(error.args), lasting=True)
        except ValueError as error:
            self.spoil("unjudgeable", str(error), lasting=True)
        except TypeError as error:
            self.spoil("error", "the program left the protocol: " + str(error), lasting=True)
        if len(sys.modules) != known:
            # A scalar of numpy's has brought numpy here.
            self.modules_imported()
        try:
            self.taking_over = True
            word, payload = self.take_over(reply, idle)
            value = None
            if word == "returned":
                value = self.at_name(target, payload) if action in ("look", "borrow") else self.as_changed(self.at(payload))
            elif word == "raised":
                value = self.raised(self.at(payload))
        except Exception as error:
            why = "the program left the protocol: " + type(error).__name__ + ": " + str(error)
            self.spoil("error", why, lasting=True)
        finally:
            self.taking_over = False
        if word == "returned":
            return value
        if word == "raised":
            try:
                raise_here(value, handled)
            finally:
                # Or it would keep itself alive, by its traceback.
                del value, handled
        if word == "missing":
            raise AttributeError(self.missing(target))
        if action == "borrow" and word == "uncrossable":
            raise Uncrossable(str(payload))
        self.spoil("unjudgeable", "what the program gives cannot cross to the tests: " + str(payload), word == "broken")

    def send_handled(self, error):
        """What the tests handle as they call, which the program may ask for: one of the program's, or of the library. Of any other
        it is told nothing, and must not ask."""
        if id(error) in self.handles:
            self.entries.append((0, "handling", [self.handles[id(error)]]))
        elif is_bare(error):
            items = [self.item(part) for part in (type(error), *ARGUMENTS.__get__(error))]
            self.entries.append((0, "handling", [self.new(error, "handled", items)]))
        elif HANDLED in self.words_of_program:
            self.note("unjudgeable", "the program asks for the exception that the tests handle, which cannot cross")
        else:
            self.doubt("the tests call the program while they handle an exception that cannot cross")

    def disturbed(self, name):
        self.note("unjudgeable", "the program changes a " + name + " over which the tests iterate", lasting=True)

    def idle(self):
        """Handles of objects that the tests do not refer to: of those that the last call was about, since most calls are about objects of
        their own. All, and 0, are looked at only where there are many, since it takes long."""
        if len(self.objects) - len(self.parked) < self.sweep_at:
            return idle_among(self.objects, [handle for handle in self.recent if handle in self.objects])
        return idle_among(self.objects, self.objects) + [0]

    def moved(self, word, entries):
        """Handles of the changed objects by which a call could move what the tests expect of it: those that it was given, unless the
        tests throw its result away, and those of the tests' that it was given before."""
        changed = [entry_of(entry)[0] for entry in entries if entry_of(entry)[0] in self.objects] if entries else []
        given = self.reachable(self.given) if self.given else set()
        # An exception is the program's, and counts only for the call that is given it.
        self.ever_given |= given - self.errors.keys()
        if not changed:
            return []
        theirs = lambda handle: handle % 2 == self.parity or handle in self.ever_given or handle in given
        if self.thrown_away and word == "returned":
            return [handle for handle in changed if theirs(handle) and handle not in given]
        return [handle for handle in changed if theirs(handle) and id(self.objects[handle]) not in self.fresh]

    def reachable(self, found):
        """Handles of what crosses with an identity among `found`, and in it."""
        handles, todo = set(), [part for part in found if self.by_value is not SCALARS or type(part) not in FLAT]
        while todo:
            part = todo.pop()
            handle = None if type(part) in self.by_value else self.handles.get(id(part))
            if handle is not None and handle not in handles:
                handles.add(handle)
                parts = parts_inside(part)
                if self.by_value is not SCALARS or not FLAT.issuperset(map(type, parts)):
                    todo.extend(parts)
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
            contents = KINDS[kind].row(KINDS[kind].contents(part))
            copy = made[id(part)] = KINDS[kind].make(contents)
            KINDS[kind].fill(copy, list(map(copied, contents)))
            return copy

        for copy in self.copies.values():
            made[id(copy)] = copy
            kind = KINDS[type(copy)]
            kind.fill(copy, list(map(copied, kind.row(kind.contents(copy)))))
        return copied(found)

    def take_over(self, reply, idle):
        word, payload, entries, names, dropped, parked, changed = reply
        words = ("returned", "raised", "missing", "uncrossable", "broken")
        if word not in words or not set(dropped) <= set(idle) or not all(map(self.can_park, parked)):
            raise ProtocolError("a reply that is none")
        for label in changed:
            self.check_state(label)
        moved = self.moved(word, entries)
        self.changed = self.changed or bool(moved)
        self.unpack(entries, moved if self.unseen else ())
        if names:
            self.tell_names([(name, what, self.at_name(name, item) if what == "value" else item) for name, what, item in names])
        self.drop_all(dropped)
        for handle in parked:
            self.park(handle)
        if 0 in idle:
            self.sweep_at = SWEEP + 2 * (len(self.objects) - len(self.parked))
        self.recent = {*self.mentioned, *(entry[0] for entry in entries)} - {0}
        return word, payload

    def made(self, handle, kind, payload):
        """Of the library a program can give values only what cannot lie: built-in types, and exceptions that mean nothing to a runner
        of tests. All else is for names alone that the tests borrow, see `at_name`."""
        found = super().made(handle, kind, payload)
        if kind == "library":
            self.lend(tuple(payload))
            if not (is_safe(found, *payload) and library_place(found) == tuple(payload)):
                self.borrowed[handle] = tuple(payload)
        return found

    def received(self, found):
        """See `Callee.as_number`, which makes numbers of them where the program is, and so where the program might keep it from that."""
        if type(found).__module__ == "numpy" and (type(found).__name__ in INEXACT or not self.knows_numpy):
            raise ProtocolError("a scalar of numpy's for a number")
        return found

    def at(self, item):
        if self.borrowed and type(item) is tuple and item and item[0] in self.borrowed:
            self.spoil("unjudgeable", "`" + name_at(self.borrowed[item[0]]) + "` of the library cannot cross as a value")
        return super().at(item)

    def is_borrowed(self, item):
        """Whether it is an object of the library that cannot cross as a value."""
        return type(item) is tuple and len(item) == 1 and item[0] in self.borrowed

    def at_name(self, name, item):
        """What a name of the program's stands for. A library's object only where it has that name itself."""
        if type(item) is tuple and item and item[0] in self.borrowed and name_at(self.borrowed[item[0]]) == name:
            return self.objects[item[0]]
        if name in self.modules_named:
            self.note("unjudgeable", "the tests use `" + name + "` as the library's module, and the program has another object there")
        return self.at(item)

    def made_here(self, handle, kind, payload):
        if kind == "function":
            name, is_shared = payload
            self.of_library |= {handle} if is_shared else set()
            return PROXIES[name](self, handle)
        if kind == "exception":
            return self.exception_class(*payload)
        if kind == "error":
            return self.bare_error(*map(self.at, payload))
        return super().made_here(handle, kind, payload)

    def check_state(self, label):
        """The program has changed what its process has: of one process, the tests would see it."""
        what, _, name = label.partition(" ")
        groups = (name, "builtins", "__builtins__") if what == "builtin" else WORDS.get(label, ())
        if names_any(self.words, groups):
            self.note("unjudgeable", "the program changes " + label + ", which the tests name and do not share", lasting=True)
        elif what == "builtin" or label in self.words_of_program or label in (NAMESPACE, *UNREADABLE):
            # What its text does not name, an import has changed.
            if label not in UNDOUBTED:
                self.doubt("the program changes " + label + ", which the tests do not share")

    def exception_class(self, name, qualname, module, doc, own, hashes, gets, mixes, *bases):
        """A class of the tests' own in place of one of the program's."""
        bases = tuple(map(self.at, bases))
        if not bases or not all(issubclass(type(base), type) and issubclass(base, BaseException) for base in bases):
            raise ProtocolError("a class that is no exception")
        if not all(type(text) is str for text in (name, qualname, module)) or type(doc) not in (str, type(None)):
            raise ProtocolError("a class without a name")
        found = {name: in_place_of(name) for name in own} | {"__init__": Deciding("__init__")}
        if not hashes:
            found["__hash__"] = None
        if gets:
            found["__getattr__"] = asked_unless_special
        elif not any(type(base) is StandIn for base in bases):
            found["__getattr__"] = asked_or_missing
        found = {"__doc__": doc} | found | {"__module__": module, "__qualname__": qualname}
        made = type.__new__(StandIn, name, bases, found)
        if mixes:
            self.mixed.add(id(made))
        return made

    def bare_error(self, kind, *arguments):
        """An exception of that class, as yet with nothing in it but what groups are made with."""
        if not issubclass(type(kind), type) or not issubclass(kind, BaseException):
            raise ProtocolError("an exception that is none")
        make = next(dict_of(base)["__new__"] for base in kind.__mro__ if base.__flags__ & 1 << 9 == 0 and "__new__" in dict_of(base))
        return make.__func__(kind, *arguments) if type(make) is staticmethod else make(kind, *arguments)

    def fill_error(self, handle, payload):
        error = self.objects.get(handle)
        if error is None or not issubclass(type(error), BaseException) or handle % 2 == self.parity:
            raise ProtocolError("the state of what is no exception of the sender's")
        arguments, (cause, context, suppressed), fields, attributes, hidden, own_hidden = payload
        hidden = hidden + [name for name, item in fields if self.is_borrowed(item)]
        hides = hidden if type(type(error)) is StandIn else hidden + own_hidden
        if hides and not self.attributes.isdisjoint(hides) or (hidden or own_hidden) and not self.words.isdisjoint(ENUMERATES):
            self.spoil("unjudgeable", "what the program's exception has beside its arguments cannot cross to the tests")
        ARGUMENTS.__set__(error, tuple(map(self.at, arguments)))
        CAUSE.__set__(error, self.at(cause))
        CONTEXT.__set__(error, self.at(context))
        SUPPRESSED.__set__(error, suppressed)
        given = {name: self.at(item) for name, item in fields if not self.is_borrowed(item)}
        for name, part in fields_of(type(error)):
            value = given.pop(name, None)
            if field(error, part) is not value:
                try:
                    part.__set__(error, value)
                except (TypeError, AttributeError):
                    if value is not None:
                        raise
        if given:
            raise ProtocolError("an exception with fields of another class")
        found = ATTRIBUTES.__get__(error)
        found.clear()
        found.update((name, self.at(item)) for name, item in attributes)
        if not all(type(name) is str and not is_kept_back(name) for name in found):
            raise ProtocolError("an attribute whose name is no text, or special")
        self.errors[handle] = state_of(error, with_context=False)

    def raised(self, error):
        """What the program raised."""
        kind = type(error)
        if not issubclass(kind, BaseException):
            raise ProtocolError("an exception that is none")
        if issubclass(kind, ENDS_OF_LOOPS):
            self.spoil("unjudgeable", "the program raised `" + kind.__name__ + "`, which would end a loop of the tests' own")
        if names_any(self.words, TRACES):
            self.note("unjudgeable", "the tests look at the frames of what the program raised, which stay on its side")
        return error


def parts_inside(found):
    """What may change with an object that crosses, or by it."""
    kind = type(found)
    if kind in KINDS:
        return KINDS[kind].contents(found)
    if issubclass(kind, tuple):
        return [*tuple.__iter__(found)]
    if kind in VIEWS:
        return [owner for owner in gc.get_referents(found) if type(owner) in VIEWED]
    if issubclass(kind, BaseException):
        return state_of(found)
    return found if kind is frozenset else ()


DEEP = 100


def is_deep():
    try:
        sys._getframe(DEEP)
    except ValueError:
        return False
    return True


def is_bare(error):
    """Whether an exception is of a built-in class, and nothing but its arguments."""
    place = library_place(type(error))
    if place is None or place[0] != "builtins" or issubclass(type(error), BaseExceptionGroup) or ATTRIBUTES.__get__(error):
        return False
    return CAUSE.__get__(error) is None and all(type(argument) in SCALARS for argument in ARGUMENTS.__get__(error))


def handling(error, function, arguments, keywords):
    """Calls it while that exception is handled."""
    context = CONTEXT.__get__(error)
    try:
        raise error
    except BaseException:
        CONTEXT.__set__(error, context)
        return function(*arguments, **keywords)
    finally:
        del error, context


def raise_here(error, handled):
    """Raises what the program raised, in the context that it has there. What the tests handle meanwhile is behind all of that."""
    context = CONTEXT.__get__(error)
    try:
        raise error
    except BaseException:
        CONTEXT.__set__(error, context)
        if handled is not None:
            set_last_context(error, handled)
        raise
    finally:
        # Or they would keep themselves alive, by the traceback.
        del error, handled, context


def set_last_context(error, handled):
    seen = {id(error)}
    while CONTEXT.__get__(error) is not None and id(CONTEXT.__get__(error)) not in seen:
        error = CONTEXT.__get__(error)
        seen.add(id(error))
    chain = handled
    while chain is not None and id(chain) not in seen:
        seen.add(id(chain))
        chain = CONTEXT.__get__(chain)
    if chain is None and CONTEXT.__get__(error) is None:
        CONTEXT.__set__(error, handled)


class Function:
    """A function of the program, as the tests see it: it can be called, passed back, and compared by identity. What they ask of its
    attributes is asked of the function itself."""

    __slots__ = ("_caller", "_handle", "__weakref__")
    stands_for = None  # the library's type of what it stands for; None for one of the program's

    def __init__(self, caller, handle):
        object.__setattr__(self, "_caller", caller)
        object.__setattr__(self, "_handle", handle)

    def __call__(self, /, *arguments, **keywords):
        return caller_of(self).call(handle_of(self), arguments, keywords)

    def __getattribute__(self, name):
        if name == "__class__":
            return class_of(self)
        if name in LOCAL_OF_FUNCTIONS:
            return object.__getattribute__(self, name)
        refuse_special(self, name)
        return caller_of(self).attribute(handle_of(self), name)

    def __setattr__(self, name, _):
        caller_of(self).spoil("unjudgeable", "the tests set attribute `" + str(name) + "` of the program's function")

    __delattr__ = lambda self, name: self.__setattr__(name, None)

    def __dir__(self):
        return caller_of(self).operate("dir", self)

    def __repr__(self):
        caller_of(self).spoil("unjudgeable", "the tests show an object of the program's, address and all")

    def __reduce_ex__(self, _):
        caller_of(self).spoil("unjudgeable", "the tests pickle an object of the program's")

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self


LOCAL_OF_FUNCTIONS = {"__call__", "__get__", "__deepcopy__", "__reduce_ex__", "__setattr__"}
caller_of, handle_of = Function._caller.__get__, Function._handle.__get__


def class_of(function):
    """What `type()` says of the function that it stands for."""
    kind = type(function).stands_for
    if kind is None:
        caller_of(function).spoil("unjudgeable", "the tests ask for the class of an object of the program's")
    return kind


def bound(self, instance, _kind=None):
    """As an attribute of a class of the tests' it becomes a method, like what it stands for."""
    return self if instance is None else types.MethodType(self, instance)


def equal(self, other):
    """Methods are made anew at each look, and may be equal without being one object. Nobody but the program could say."""
    if self is other:
        return True
    if issubclass(type(other), Function) and type(self) is type(other) and type(self).stands_for in MADE_ANEW:
        caller_of(self).spoil("unjudgeable", "the tests compare two methods of the program's")
    if handle_of(self) in caller_of(self).of_library and type(other) in FUNCTIONS:
        caller_of(self).spoil("unjudgeable", "the tests compare a function of the library, which the program calls, with their own")
    return NotImplemented


def hashed(self):
    if handle_of(self) in caller_of(self).of_library:
        caller_of(self).spoil("unjudgeable", "the tests hash a function of the library, which the program calls")
    if type(self).stands_for in MADE_ANEW:
        caller_of(self).spoil("unjudgeable", "the tests hash a method of the program's")
    return object.__hash__(self)


MADE_ANEW = {types.MethodType, types.BuiltinFunctionType}


def copied_function(self, _=None):
    caller_of(self).spoil("unjudgeable", "the tests copy an object of the program's")


def proxy_of(kind, name):
    """The class of what stands for functions of that type. They are equal by identity, but for those made anew at each look."""
    own = {"__slots__": (), "stands_for": kind, "__eq__": equal, "__hash__": hashed}
    if kind is not types.MethodType and hasattr(kind, "__get__"):
        own["__get__"] = bound
    if kind in (None, types.MethodType, functools.partial):
        # Of these `copy` makes new ones, and of what they hold.
        own |= {"__copy__": copied_function, "__deepcopy__": copied_function}
    return type(name, (Function,), own)


PROXIES = {name: proxy_of(kind, name) for kind, name in FUNCTIONS.items()} | {"object": proxy_of(None, "object")}


# Scalars of numpy's to which a number is rounded before it is compared with them.
INEXACT = {"float16", "float32", "complex64", "longdouble", "clongdouble", "float128", "complex256"}
# Names by which tests show that they know of numpy's scalars, and attributes that only these have.
NUMPY = {"np", "numpy"}
OF_NUMPY = {"item", "dtype", "astype", "tolist", "shape", "ndim", "size", "itemsize", "nbytes", "tobytes", "flatten", "ravel"}


# What a class has beside its methods, and what making an instance takes.
UNSEEN = {"__module__", "__doc__", "__dict__", "__weakref__", "__qualname__", "__slots__", "__annotations__", "__firstlineno__"}
UNSEEN |= {"__static_attributes__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__init__", "__new__", "__call__"}


def only_called(kind):
    """Whether an object of this class of the program's can do nothing but be called."""
    own = [name for base in kind.__mro__[:-1] for name in vars(base)]
    return all(name in UNSEEN for name in own if name.startswith("__"))


def made_of(kind):
    return name_of(kind), qualname_of(kind), bases_of(kind), own_names(kind)


# What the tests can ask of the program's objects beside calls and attributes.
OPERATIONS = {
    "dir": dir,
    "special": lambda error, name, *arguments: ASKED[name][0](error, *arguments),
}


class Callee(Objects):
    """The program's side: answers the requests of the tests."""

    def __init__(self, source):
        """Before the program runs."""
        super().__init__(2)
        self.names = {}  # the program's module
        self.words = words_of(source)
        self.named = STATES.named(self.words)
        self.asks = [HANDLED] * bool(names_any(self.words, ASKS_FOR_HANDLED) or RAISES_AGAIN.is_in(source, self.words))
        self.asks += [ADDRESSES] * bool(ASKS_FOR_ID.is_in(source, self.words))
        self.modules = len(sys.modules)
        self.seen = tuple(STATE)  # labels of what the tests or the program name of the state of the process
        self.seed = drawn() if names_any(self.words, ("seed", "setstate", "Random")) else None
        self.unreadable = TRIGGERS.named(self.words)
        self.asks += [IDENTITIES] * asks_which_it_is(source, self.words) + [HASHES] * ("hash" in self.words)
        self.asks += doubts_of(source, self.words)
        self.is_audited = "addaudithook" in self.words
        self.asks += [AUDITED] * self.is_audited
        self.shown = None  # what was in its module when the tests last asked for all names
        self.compared = False  # whether the tests ask which of two equal values they have
        self.knows_numpy = False  # whether the tests may ask a scalar of numpy's what only that has
        self.watched = {}  # name -> what it was when last told
        self.dice = None  # what has been drawn, where the tests set a seed
        self.classes = {}  # what there is to each class of exceptions that has been sent, by handle
        self.handled = None  # what the tests handle during the call under way
        self.loop = ""  # which container the tests have changed under an iterator

    def disturbed(self, name):
        self.loop = name

    def library_place(self, found):
        """Of the library only what cannot lie crosses as a value: built-in types and exceptions. Functions are called here."""
        place = library_place(found)
        return place if place and is_safe(found, *place) and is_genuine(found, *place) else None

    def as_number(self, found):
        """A scalar of numpy's compares as numpy has it: it equals a list of one item, and rounds what it is compared with to its own
        type. Tests that do not know of numpy get the number."""
        if type(found).__module__ != "numpy":
            return found
        if type(found).__name__ in INEXACT:
            raise Uncrossable("a `" + type(found).__name__ + "` of numpy's, which equals what it is not")
        return found if self.knows_numpy else found.item()

    def describe_own(self, found, kind, todo, depth):
        if kind in FUNCTIONS:
            is_shared = library_place(found) is not None
            if is_shared and self.compared:
                raise Uncrossable("a function of the library, which the tests may compare with their own")
            return self.new(found, "function", [FUNCTIONS[kind], is_shared])
        if kind is type and issubclass(found, BaseException):
            return self.describe_class(found, todo, depth)
        if issubclass(kind, BaseException):
            return self.describe_error(found, kind, depth)
        return super().describe_own(found, kind, todo, depth)

    def describe_class(self, found, todo, depth):
        bases = [base for base in bases_of(found) if issubclass(base, BaseException)]
        own, hashes = own_names(found)
        module, doc = dict_of(found).get("__module__"), dict_of(found).get("__doc__")
        if type(module) is not str:
            raise Uncrossable("a class of no module")
        if type(doc) not in (str, type(None)):
            own, doc = [*own, "__doc__"], None
        for text in (name_of(found), qualname_of(found), module, doc or "", *own):
            check_text(text)
        items = [self.item_of(base, todo, depth + 1) for base in bases]
        texts = [name_of(found), qualname_of(found), module, doc]
        gets = any("__getattr__" in dict_of(base) for base in found.__mro__)
        handle = self.new(found, "exception", [*texts, own, hashes, gets, bool(mixed_into(found)), *items])
        self.classes[handle] = made_of(found)
        return handle

    def describe_error(self, error, kind, depth):
        items = [self.item(kind)]
        if issubclass(kind, BaseExceptionGroup):
            items += [self.item(BaseExceptionGroup.message.__get__(error)), self.item(tuple(BaseExceptionGroup.exceptions.__get__(error)))]
        handle = self.new(error, "error", items)
        self.send_error(handle, depth)
        return handle

    def send_error(self, handle, depth):
        """Arguments; cause, context, and whether that is suppressed; what the library's class keeps; attributes; and the names of
        what of these cannot cross."""
        error = self.objects[handle]
        self.errors[handle] = UNKNOWN
        state = state_of(error)
        hidden, own_hidden = [], []
        ends = []
        for name, part in ("__cause__", CAUSE), ("__context__", CONTEXT):
            found = part.__get__(error)
            item = None if found is None else self.tried(lambda: self.item(found, depth + 1)) if depth < MAX_CAUSES else None
            hidden += [name] * (found is not None and item is None)
            ends.append(item)
        arguments = [self.item(argument) for argument in ARGUMENTS.__get__(error)]
        fields, attributes = [], []
        own = [(name, field(error, part), fields) for name, part in fields_of(type(error))]
        for name, value, row in own + [(name, value, attributes) for name, value in ATTRIBUTES.__get__(error).items()]:
            if value is None and row is fields:
                continue
            stays = row is attributes and type(name) is str and is_kept_back(name)
            pair = None if stays else self.tried(lambda: [check_text(name) or name, self.item(value)])
            if pair is None:
                (hidden if row is fields else own_hidden).append(name if type(name) is str and name.isascii() else "")
            else:
                row.append(pair)
        ends.append(bool(SUPPRESSED.__get__(error)))
        self.entries.append((handle, "state", [arguments, ends, fields, attributes, hidden, own_hidden]))
        self.errors[handle] = state

    def answer(self, request):
        """The reply to one request: `(word, payload, entries, names, dropped, parked, changed)`."""
        _, action, target, items, keywords, entries, idle = request
        self.unpack([entry for entry in entries if entry[1] != "handling"] if entries else [])
        self.handled = next((self.at((payload[0],)) for _, kind, payload in entries if kind == "handling"), None) if entries else None
        self.begin()
        if action == "watch":
            self.watched = {name: self for name in items}
            options, seen = target
            self.compared, self.knows_numpy = "identities" in options, "numpy" in options
            self.seen = tuple(label for label in STATE if label in seen or label in self.named)
            if self.compared or IDENTITIES in self.asks:
                self.keep_all_identities()
            self.dice = drawn() if "random" in options else None
            named = "\n".join(self.named + self.asks)
            result = lambda: ("returned", named)
        elif action == "attribute":
            found, name = self.at(target), self.at(items[0])
            result = self.called(getattr, [found, name], {})
        elif action == "operate":
            result = self.called(OPERATIONS[target], [self.at(item) for item in items], {})
        elif action == "names":
            found = sorted(name for name in self.names if type(name) is str)
            self.shown = (*self.names, *self.names.values())
            result = lambda: ("returned", self.item(found))
        elif action in ("look", "borrow"):
            result = self.looked_up(target)
        elif action == "star":
            # As `import *` has it.
            public = [name for name in self.names if type(name) is str and not name.startswith("_")]
            found = self.names["__all__"] if "__all__" in self.names else public
            result = self.called(list, [found], {})
        else:
            result = self.called(self.at(target), [self.at(item) for item in items], {k: self.at(v) for k, v in keywords.items()})
        try:
            self.attempt(self.send_changes)
        except Uncrossable as error:
            return ("broken", "a shared object holds " + error.args[0], [], [], [], [], [])
        if self.loop:
            return ("broken", "a " + self.loop + " that the tests have changed while it iterates over it", [], [], [], [], [])
        names = self.changed_names()
        try:
            word, payload = self.attempt(result)
        except Uncrossable as error:
            word, payload = "uncrossable", error.args[0]
        del result
        if self.dice is not None and drawn() != self.dice:
            word, payload = "broken", "what it draws, as the tests set a seed of their own"
        dropped, parked = self.sweep(set(idle)) if idle else ([], [])
        self.send_digits()
        return (word, payload, self.entries, names, dropped, parked, self.changed_state())

    def send_changes(self):
        super().send_changes()
        for handle in self.errors_in_use():
            if not same_all(self.errors[handle], state_of(self.objects[handle])):
                self.send_error(handle, 0)
        for handle, before in self.classes.items():
            if before != made_of(self.objects[handle]):
                raise Uncrossable("a class that has changed")

    def changed_state(self):
        """Labels of what the process has no longer as it was before the program ran, as far as anybody sees it."""
        seen = self.seen if not self.decimals or DECIMALS in self.seen else (*self.seen, DECIMALS)
        found = changed_state(Image.state, seen) + self.unreadable
        if len(sys.modules) != self.modules + ("solution" in sys.modules):
            found.append("sys.modules")
        now, before = vars(builtins), Image.builtins
        if not (len(now) == len(before) and all(map(is_, now.values(), before.values()))):
            names = [name for name in now.keys() | before.keys() if now.get(name, Callee) is not before.get(name, Callee)]
            found += ["builtin " + name for name in names if type(name) is str and name.isascii()]
        if self.shown and not unchanged([self.shown], [(*self.names, *self.names.values())]):
            found.append(NAMESPACE)
        if self.decimals and DECIMALS in found:
            found.append("what decimal numbers come to")
        if self.seed is not None and drawn() != self.seed:
            found.append("the seed of random")
        return found

    def sweep(self, idle):
        """What neither side refers to is dropped; of the rest, what the program does not refer to is parked, where all are looked at."""
        looked_at = self.objects if 0 in idle else idle & self.objects.keys()
        looked_at = [handle for handle in looked_at if handle and (handle not in self.parked or handle in idle)]
        unused = [handle for handle in idle_among(self.objects, looked_at) if handle not in self.mentioned]
        dropped, parked = [handle for handle in unused if handle in idle], [handle for handle in unused if handle not in idle]
        self.drop_all(dropped)
        parked = list(filter(self.can_park, parked))
        for handle in parked:
            self.park(handle)
        return dropped, parked

    def called(self, function, arguments, keywords):
        try:
            if self.handled is None:
                value = function(*arguments, **keywords)
            else:
                value = handling(self.handled, function, arguments, keywords)
        except BaseException as error:
            error.__traceback__ = None
            return functools.partial(self.raised, error)
        finally:
            self.handled = None
        return lambda: ("returned", self.item(value))

    def made_here(self, handle, kind, payload):
        if kind == "handled":
            found, *arguments = map(self.at, payload)
            return found(*arguments)
        return super().made_here(handle, kind, payload)

    def raised(self, error):
        return ("raised", self.item(error))

    def tried(self, pack):
        """What `pack()` returns; None where it cannot cross, or code of the program's that it runs raises."""
        try:
            return self.attempt(pack)
        except Exception:
            return None

    def looked_up(self, name):
        if name not in self.names:
            if "__getattr__" in self.names:
                return self.called(self.names["__getattr__"], [name], {})
            return lambda: ("missing", None)
        found = self.names[name]
        return lambda: ("returned", self.named_item(name, found))

    def named_item(self, name, found):
        """A name may stand for anything that can be called but for a class, and for what the library calls by that name: tests that
        borrow an import of the program's get the real one."""
        place = None if type(found) is types.FunctionType else library_place(found)
        if place is not None and name == name_at(place) and type(found) is not types.BuiltinFunctionType:
            handle = self.handles.get(id(found)) or self.new(found, "library", list(place))
            self.mentioned.add(handle)
            return (handle,)
        try:
            return self.item(found)
        except Uncrossable:
            if issubclass(type(found), type) or not callable(found) or not only_called(type(found)):
                raise
            handle = self.new(found, "function", ["object", False])
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
