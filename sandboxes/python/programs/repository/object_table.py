"""Objects that the side of the tests and the side of the package both have, each under one number.

Values cross as copies. With them cross the numbers of all lists, dicts and sets in them, in the order in which a walk meets them, so
that the receiver puts its own object in the place of a copy: what is one object in one process is one object on each side. A number
is kept as long as both sides hold on to its object; only then can either notice what the other does to it.
"""


def _object_table(first):
    """A table that gives out `first`, `first + 2`, …: the other side gives out those between."""
    import collections
    import marshal
    import sys

    mappings = frozenset((dict, collections.Counter, collections.OrderedDict, collections.defaultdict))
    flat = frozenset((set, bytearray))
    changing = mappings | flat | {list, collections.deque}
    deep = changing | {tuple}
    sequences = deep - mappings | {frozenset}
    atoms = frozenset((type(None), bool, int, float, complex, str, bytes))
    max_depth = 64
    count_references = sys.getrefcount

    def parts(value, kind):
        """What of a value may hold objects that change. Keys, and items of sets, hold none."""
        if kind in flat:
            return ()
        return value.values() if kind in mappings else value

    def fingerprint(value):
        """Equal for values of equal types and contents."""
        try:
            return marshal.dumps(value, 2)
        except ValueError:
            return marshal.dumps(spelled_out(value), 2)

    def spelled_out(value):
        """A value with the types and the order of all that is in it, in what `marshal` takes. The `repr` of a Counter has another order."""
        kind = type(value)
        if kind in mappings:
            more = repr(getattr(value, "default_factory", None))
            return kind.__name__, more, [(spelled_out(key), spelled_out(item)) for key, item in value.items()]
        if kind in sequences:
            return kind.__name__, repr(getattr(value, "maxlen", None)), [spelled_out(item) for item in value]
        return value if kind in atoms else (kind.__name__, repr(value))

    class Table:
        def __init__(self):
            self.objects, self.numbers, self.next = {}, {}, first

        def number(self, value, found, depth=0):
            """Appends the number of each object in `value` that can change."""
            kind = type(value)
            if kind not in deep:
                return
            if depth > max_depth:
                raise ValueError("nested too deep")
            if kind in changing:
                number = self.numbers.get(id(value))
                if number is None:
                    number = self.numbers[id(value)] = self.next
                    self.objects[number] = value
                    self.next += 2
                found.append(number)
            inside = parts(value, kind)
            if not deep.isdisjoint(map(type, inside)):
                for item in inside:
                    self.number(item, found, depth + 1)

        def resolve(self, value, numbers, changed):
            """The value with the objects of this side in it, as the other side says they are now. `numbers` is an iterator;
            `changed` is called with the numbers of those that were otherwise."""
            kind = type(value)
            if kind not in deep:
                return value
            number = self.number_of(value, numbers) if kind in changing else None
            inside = parts(value, kind)
            if not deep.isdisjoint(map(type, inside)):
                if kind is tuple:
                    found = [self.resolve(item, numbers, changed) for item in value]
                    return value if all(map(is_same, found, value)) else tuple(found)
                for key, item in list(value.items() if kind in mappings else enumerate(value)):
                    now = self.resolve(item, numbers, changed)
                    if now is not item:
                        value[key] = now
            if kind is tuple:
                return value
            old = self.objects[number]
            if old is not value:
                if type(old) is not kind:
                    raise ValueError("an object of another type")
                self.refill(number, old, value, changed)
            return old

        def number_of(self, value, numbers):
            number = next(numbers, None)
            if type(number) is not int or number not in self.objects and number % 2 == first % 2:
                raise ValueError("an object without its number")
            if number not in self.objects:
                self.objects[number] = value
                self.numbers[id(value)] = number
            return number

        def refill(self, number, old, value, changed):
            differs = fingerprint(old) != fingerprint(value)
            kind = type(old)
            if not differs and all(map(is_same, parts(old, kind), parts(value, kind))):
                return
            if kind is list or kind is bytearray:
                old[:] = value
            else:
                old.clear()
                if kind in mappings:
                    for key in value:
                        old[key] = value[key]
                elif kind is set:
                    old.update(value)
                else:
                    old.extend(value)
            if differs:
                changed(number)

        def forget(self, number):
            self.numbers.pop(id(self.objects.pop(number, None)), None)

        def forget_but(self, kept):
            if len(self.objects) > len(kept):
                for number in [number for number in self.objects if number not in kept]:
                    self.forget(number)

        def kept(self, holders):
            """Numbers of what something refers to beside this table and `holders`, which hold nothing else, and of what is in it."""
            visits = {}
            for holder in holders:
                for item in holder:
                    visit(item, visits)
            found = [
                value
                for value, count in visits.values()
                if count_references(value) > count + alone + (type(value) in changing and id(value) in self.numbers)
            ]
            seen = set()
            while found:
                value = found.pop()
                if id(value) not in seen:
                    seen.add(id(value))
                    found.extend(item for item in parts(value, type(value)) if type(item) in deep)
            return {self.numbers[key] for key in seen if key in self.numbers}

        def unreferenced(self, numbers):
            """Those of `numbers` whose objects nothing refers to but this table, after they are forgotten."""
            found = []
            for number in numbers:
                if number in self.objects and count_references(self.objects[number]) <= 1 + borrowed:
                    found.append(number)
                    self.forget(number)
            return found

    def is_same(one, other):
        return one is other

    def visit(value, visits):
        if type(value) not in deep:
            return
        known = visits.get(id(value))
        if known is not None:
            known[1] += 1
            return
        visits[id(value)] = [value, 1]
        inside = parts(value, type(value))
        if not deep.isdisjoint(map(type, inside)):
            for item in inside:
                visit(item, visits)

    # What counting adds by itself.
    visits, holder = {}, [[]]
    visit(holder[0], visits)
    alone = [count_references(value) - count for value, count in visits.values()][0]
    borrowed = count_references(holder[0]) - 2
    del visits, holder

    Table.fingerprint = staticmethod(fingerprint)
    Table.changing, Table.deep = changing, deep
    return Table()


