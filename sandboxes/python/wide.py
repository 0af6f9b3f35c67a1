"""Numbers of 64 bits for the programs of a 32-bit interpreter. A module of the image.

In a program's own text `sys.maxsize` is 2**63 - 1, as on the machines that programs are written for. The library keeps its own, which it
passes to compiled code as a length. Functions that take the length of a `range`, or a number of items, take what has more than 31 bits.
Where a text handles a `MemoryError`, more items than 31 bits count raise one, as they do on a 64-bit machine, and no `OverflowError`."""

import ast
import bisect
import functools
import itertools
import operator
import random
import re
import sys

MAX_SIZE, MAX_LENGTH = 2**63 - 1, sys.maxsize
CONTAINERS = frozenset(["bytearray", "bytes", "list", "tuple"])
ONLY_TREE = ast.PyCF_ONLY_AST
DRAWS_FROM_RANGE = re.compile(r"\b(?:sample|choices?)\s*\(\s*range\b")


def compile_program(source, name, tree=None, imported=()):
    """What a program or a test is compiled to; `tree` is its syntax tree, where that is there already. `imported` are names under which another
    text imports `sys` for it."""
    if "bisect" in source and "key" in source:
        widen_bisect()
    if "random" in source and DRAWS_FROM_RANGE.search(source):
        widen_random()
    allocates = "MemoryError" in source and name == "<program>"
    if allocates or "maxsize" in source:
        tree = compile(source, name, "exec", ONLY_TREE, True) if tree is None else tree
    if "maxsize" in source:
        widen_size(tree, imported)
    if allocates:
        widen_allocations(tree)
    return compile(source if tree is None else tree, name, "exec", 0, True)


def replace(nodes, replacement):
    """Puts `replacement(part)` in the place of each part of a syntax tree: the part itself, or another one for it. A part's own parts come
    before it."""
    for node in reversed(nodes):
        for field, part in ast.iter_fields(node):
            if isinstance(part, ast.AST):
                setattr(node, field, replacement(part))
            elif type(part) is list:
                part[:] = [replacement(item) if isinstance(item, ast.AST) else item for item in part]


def widen_size(tree, imported):
    """Makes `sys.maxsize` the number that it is elsewhere, in a syntax tree."""
    nodes = list(ast.walk(tree))
    modules, numbers, bound = names_of_size(nodes)
    modules = (modules | set(imported)) - bound
    numbers -= bound
    replace(nodes, lambda part: wide_size(part) if is_size(part, modules, numbers) else part)


def names_of_size(nodes):
    """The names under which a program imports `sys` and its `maxsize`, and all names that it binds otherwise."""
    modules, numbers, bound = set(), set(), set()
    for node in nodes:
        if type(node) in (ast.Import, ast.ImportFrom):
            source = getattr(node, "module", "")
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                if type(node) is ast.Import and alias.name == "sys":
                    modules.add(name)
                elif source == "sys" and node.level == 0 and alias.name == "maxsize":
                    numbers.add(name)
                else:
                    bound.add(name)
        elif type(node) is ast.Name and type(node.ctx) is not ast.Load:
            bound.add(node.id)
        elif type(node) is ast.arg:
            bound.add(node.arg)
        elif type(node) is not ast.alias and type(getattr(node, "name", None)) is str:
            # A function, a class, a handler, a pattern.
            bound.add(node.name)
    return modules, numbers, bound


def is_size(node, modules, numbers):
    if type(node) is ast.Attribute:
        return node.attr == "maxsize" and type(node.ctx) is ast.Load and type(node.value) is ast.Name and node.value.id in modules
    return type(node) is ast.Name and type(node.ctx) is ast.Load and node.id in numbers


def wide_size(node):
    return ast.copy_location(ast.Constant(MAX_SIZE), node)


def widen_allocations(tree):
    """Products and `list(…)`, `bytearray(…)` and the like, in a syntax tree, by functions of this module that know what a 64-bit machine
    raises."""
    replace(list(ast.walk(tree)), wide_allocation)


def wide_allocation(node):
    if type(node) is ast.BinOp and type(node.op) is ast.Mult and not (is_short(node.left) or is_short(node.right)):
        return call_of("multiply", node, node.left, node.right)
    if type(node) is ast.AugAssign and type(node.op) is ast.Mult and type(node.target) is ast.Name and not is_short(node.value):
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        return ast.copy_location(ast.Assign([node.target], call_of("multiply_in_place", node, old, node.value)), node)
    if type(node) is ast.Call and type(node.func) is ast.Name and node.func.id in CONTAINERS and len(node.args) == 1 and not node.keywords:
        return call_of("allocate", node, node.func, *node.args)
    return node


def call_of(name, node, *arguments):
    """A call of a function of this module, in the place of a node."""
    call = ast.parse(f"__import__({__name__!r}).{name}()", mode="eval").body
    for part in ast.walk(call):
        ast.copy_location(part, node)
    call.args.extend(arguments)
    return call


def is_short(node):
    """A number that can be a length here, too."""
    return type(node) is ast.Constant and (type(node.value) is float or type(node.value) is int and node.value <= MAX_LENGTH)


def allocate(make, *parts):
    """`make(*parts)`, with the error of a machine whose lengths have 63 bits."""
    try:
        return make(*parts)
    except OverflowError:
        if any(map(is_wide, parts)):
            raise MemoryError from None
        raise


multiply = functools.partial(allocate, operator.mul)
multiply_in_place = functools.partial(allocate, operator.imul)


def is_wide(part):
    """A number of items, or a range of as many, that can be a length elsewhere, but not here."""
    number = length_of(part) if type(part) is range else part
    return type(number) is int and MAX_LENGTH < number <= MAX_SIZE


def length_of(found):
    """`len` of a range of any size."""
    return max(0, (found.stop - found.start + found.step - (1 if found.step > 0 else -1)) // found.step)


def length(found):
    """`len`, also of a range with more items than a length may have."""
    return length_of(found) if type(found) is range else len(found)


def clamped(number):
    """A number of items that no program can come to, as one that compiled code takes."""
    return min(number, MAX_LENGTH) if type(number) is int else number


def take_wide_ranges(method):
    """A method of `random.Random` that draws from a range of any size."""

    @functools.wraps(method)
    def draw(self, population, *arguments, **keywords):
        if type(population) is not range or length_of(population) <= MAX_LENGTH:
            return method(self, population, *arguments, **keywords)
        random.len = length
        try:
            return method(self, population, *arguments, **keywords)
        finally:
            del random.len

    return draw


def search_wide_ranges(narrow):
    """A function of `bisect` that searches a range of any size."""
    is_right = narrow.__name__ == "bisect_right"

    @functools.wraps(narrow)
    def search(a, x, lo=0, hi=None, *, key=None):
        if type(a) is not range or length_of(a) <= MAX_LENGTH:
            return narrow(a, x, lo, hi, key=key)
        if lo < 0:
            raise ValueError("lo must be non-negative")
        low, high = lo, length_of(a) if hi is None else hi
        while low < high:
            middle = (low + high) // 2
            item = a[middle] if key is None else key(a[middle])
            if x < item if is_right else not item < x:
                high = middle
            else:
                low = middle + 1
        return low

    return search


def widen_random():
    """For programs that draw from a range where they name it: others pay nothing."""
    if random.Random.sample is narrow_sample:
        for name in "sample", "choice", "choices":
            setattr(random.Random, name, take_wide_ranges(getattr(random.Random, name)))
            setattr(random, name, getattr(random._inst, name))


def widen_bisect():
    """For programs that search by a key: a range without one needs no search, and others pay nothing."""
    if bisect.bisect_left is narrow_left:
        bisect.bisect_left, bisect.bisect_right = search_wide_ranges(narrow_left), search_wide_ranges(narrow_right)
        bisect.bisect = bisect.bisect_right


narrow_left, narrow_right, narrow_sample = bisect.bisect_left, bisect.bisect_right, random.Random.sample
narrow_islice, narrow_lru_cache = itertools.islice, functools.lru_cache


class islice(itertools.islice):
    """`itertools.islice`."""

    __module__ = "itertools"

    def __new__(cls, iterable, *bounds):
        return narrow_islice.__new__(cls, iterable, *map(clamped, bounds))


@functools.wraps(narrow_lru_cache)
def lru_cache(maxsize=128, typed=False):
    return narrow_lru_cache(clamped(maxsize), typed)


def widen_csv(module):
    """`csv.field_size_limit(sys.maxsize)` is how programs ask for no limit."""
    narrow = module.field_size_limit

    @functools.wraps(narrow)
    def field_size_limit(*limit):
        return narrow(*map(clamped, limit))

    module.field_size_limit = field_size_limit


def sum_dtype(array):
    """The type in which numpy adds up integers on a 64-bit machine, where it is another one here."""
    return {"b": "int64", "i": "int64", "u": "uint64"}.get(array.dtype.kind) if array.dtype.itemsize < 8 else None


def add_in_64_bits(narrow):
    """`ndarray.sum` or `ndarray.prod`."""

    @functools.wraps(narrow)
    def total(a, axis=None, dtype=None, out=None, *arguments, **keywords):
        return narrow(a, axis, sum_dtype(a) if dtype is None and out is None else dtype, out, *arguments, **keywords)

    return total


def widen_array_methods(module):
    module._sum, module._prod = add_in_64_bits(module._sum), add_in_64_bits(module._prod)


def widen_array_functions(module):
    """`numpy.sum` and `numpy.prod`, and `numpy.repeat`, which takes their results."""
    arrays = sys.modules["numpy._core.multiarray"]
    narrow, array, to_array = module._wrapreduction, arrays.ndarray, arrays.asarray

    def reduce(obj, ufunc, method, axis, dtype, out, **keywords):
        if method in ("sum", "prod") and dtype is None and out is None:
            obj = to_array(obj) if type(obj) in (list, tuple) else obj
            dtype = sum_dtype(obj) if type(obj) is array else None
        return narrow(obj, ufunc, method, axis, dtype, out, **keywords)

    narrow_repeat = module.repeat

    @functools.wraps(narrow_repeat)
    def repeat(a, repeats, axis=None):
        if type(repeats) is array and repeats.dtype == "int64" and not (repeats > MAX_LENGTH).any():
            repeats = repeats.astype("int32")
        return narrow_repeat(a, repeats, axis)

    module._wrapreduction, module.repeat = reduce, repeat
    numpy = sys.modules["numpy"]
    if getattr(numpy, "repeat", None) is narrow_repeat:
        numpy.repeat = repeat


def install():
    itertools.islice, functools.lru_cache = islice, lru_cache
    after_import = sys.modules["_veriplay_after_import"].after_import
    after_import("csv", widen_csv)
    after_import("numpy._core._methods", widen_array_methods)
    after_import("numpy._core.fromnumeric", widen_array_functions)
    sys.modules["_veriplay"].compile_program = compile_program


install()
