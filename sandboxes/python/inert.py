"""Which test code can change nothing of its process, and ask nothing of it. A module of the image, used by the test runner.

What tests change of their process or ask of it, the program does not share, so the test runner looks at the process at each call of
the program. Most test code consists of calls, comparisons and values: it is inert, and nothing need be looked at. What is allowed
is listed; all else is not inert.

Everything that inert code can reach is a value, a function of its own, one of these functions of the library, or stands for an object
of the program's, which is in another process. Where the program gives the tests something else of the library, they are inert no
longer: see `Split.lend`.
"""

import ast
import builtins
import collections
import itertools
import math

NODES = {
    ast.Module, ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While,
    ast.If, ast.IfExp, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Assert, ast.Raise, ast.Try, ast.ExceptHandler, ast.BoolOp, ast.BinOp,
    ast.UnaryOp, ast.Dict, ast.Set, ast.List, ast.Tuple, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension,
    ast.Compare, ast.Call, ast.keyword, ast.JoinedStr, ast.FormattedValue, ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice,
    ast.Starred, ast.NamedExpr, ast.Import, ast.ImportFrom, ast.alias, ast.Load, ast.Store,
    *ast.operator.__subclasses__(), *ast.unaryop.__subclasses__(), *ast.cmpop.__subclasses__(), *ast.boolop.__subclasses__(),
}  # fmt: skip
BUILTINS = {
    "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr", "complex", "dict", "divmod", "enumerate", "filter",
    "float", "frozenset", "hash", "hex", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min", "next", "oct", "ord",
    "pow", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip", "NotImplemented", "Ellipsis",
}  # fmt: skip
BUILTINS |= {name for name, found in vars(builtins).items() if isinstance(found, type) and issubclass(found, BaseException)}
public = lambda found: {name for name in dir(found) if not name.startswith("_")}
# What may be imported, from where. Nothing of it changes anything but what it is given, or the state of `random`.
IMPORTS = {
    "math": public(math),
    "itertools": public(itertools),
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "typing": {
        "Any", "Callable", "Dict", "FrozenSet", "Iterable", "Iterator", "List", "Mapping", "Optional", "Sequence", "Set", "Tuple", "Union",
    },
    "random": {"choice", "choices", "randint", "random", "randrange", "sample", "seed", "shuffle", "uniform"},
    "string": {"ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "punctuation"},
}  # fmt: skip
VALUES = str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, range, slice
KINDS = collections.Counter, collections.OrderedDict, collections.defaultdict, collections.deque
# A format can ask an object for any attribute.
ATTRIBUTES = set().union(*map(public, VALUES), *map(public, KINDS), *IMPORTS.values(), {"args"}) - {"format", "format_map"}


def is_inert(nodes):
    """Whether test code is, by its nodes."""
    if not nodes.by_type.keys() <= NODES:
        return False
    # What `type(x)` gives may be `type`, which makes classes: it may be compared and no more.
    operands = (operand for node in nodes.of(ast.Compare) for operand in (node.left, *node.comparators))
    compared = {id(operand.func) for operand in operands if type(operand) is ast.Call and is_of_one(operand)}
    names = (node for node in nodes.of(ast.Name) if node.id != "type" or id(node) not in compared)
    return all(map(is_name, names)) and all(is_allowed(node) for kind, is_allowed in CHECKS.items() for node in nodes.of(kind))


def is_of_one(call):
    return len(call.args) == 1 and type(call.args[0]) is not ast.Starred and not call.keywords


def is_harmless(place):
    """Whether inert code may have what is at that place in the library: a module, and the name there, or none."""
    module, name = place
    if module == "builtins":
        return name in BUILTINS
    return module in IMPORTS and (not name or name in IMPORTS[module])


def is_own(name):
    """Whether a name is no special one, which would be the interpreter's."""
    return not name.startswith("__")


def is_name(node):
    name = node.id
    return is_own(name) and (name in BUILTINS or not hasattr(builtins, name) or type(node.ctx) is ast.Store)


def is_function(node):
    return is_own(node.name) and not node.decorator_list and not node.type_params


def is_import(node):
    return all(alias.name in IMPORTS and is_own(alias.asname or "") for alias in node.names)


def is_import_from(node):
    """Of the program's module any names but all of them: what stands for the program's objects is asked where the program is."""
    if node.level or any(not (is_own(alias.name) and is_own(alias.asname or "")) for alias in node.names):
        return False
    names = {alias.name for alias in node.names}
    return "*" not in names if node.module == "solution" else names <= IMPORTS.get(node.module, set())


CHECKS = {
    ast.Attribute: lambda node: type(node.ctx) is ast.Load and node.attr in ATTRIBUTES,
    ast.FunctionDef: is_function,
    ast.arg: lambda node: is_own(node.arg),
    ast.ExceptHandler: lambda node: is_own(node.name or ""),
    ast.Import: is_import,
    ast.ImportFrom: is_import_from,
}
