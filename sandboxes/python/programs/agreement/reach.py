"""What a code or an assertion reaches for that no function on plain values needs: introspection, the interpreter, the tests.

Trusted: it reads text and runs nothing of it. This is a list, and lists are incomplete: codes and tests run in instances of their
own, and a code that reaches for more is only not believed.
"""

import ast
import collections
import re

# Importing these gives nothing that a test runner could be reached by. `clocks` only repairs may import.
PLAIN = set(
    "abc array base64 binascii bisect calendar cmath collections colorsys contextlib copy csv dataclasses decimal difflib enum "
    "fractions functools heapq html itertools json keyword math numbers operator re statistics string struct textwrap "
    "typing unicodedata warnings zlib __future__".split()
)
CLOCKS = {"datetime", "hashlib", "hmac", "random", "secrets", "time", "uuid", "zoneinfo"}
CALLS = set(
    "__import__ breakpoint compile delattr eval exec exit globals input locals memoryview open quit vars attrgetter "
    "methodcaller".split()
)
CHANCE = {"hash", "id"}
NAMES = set(
    "modules meta_path path_hooks path_importer_cache settrace setprofile monitoring excepthook unraisablehook "
    "displayhook exc_info get_objects get_referrers get_referents callbacks finalize gi_frame gi_code cr_frame ag_frame "
    "tb_frame tb_next f_back f_locals f_globals f_builtins f_code bltns nodeid longrepr outcome wasxfail".split()
)
MODULES = set(
    "sys os gc io inspect builtins importlib ctypes types traceback linecache atexit signal threading weakref site code "
    "codecs pickle marshal unittest pytest pluggy pathlib shutil tempfile subprocess multiprocessing socket runpy pkgutil "
    "zipimport tracemalloc faulthandler posix symtable dis asyncio concurrent logging program conftest".split()
)
# What makes an object say of itself that it equals anything, or is anything.
LIARS = set(
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __len__ __contains__ __instancecheck__ __subclasscheck__ __class__ "
    "__getattr__ __getattribute__ __del__ __init_subclass__ __set_name__ __prepare__ __mro_entries__ __class_getitem__ "
    "__format__ __str__ __repr__ __isabstractmethod__ __subclasshook__ __mro__ __index__ __rsub__ __reduce__".split()
)
HARMLESS = set(
    "__init__ __new__ __name__ __qualname__ __doc__ __class__ __iter__ __next__ __len__ __getitem__ __setitem__ "
    "__delitem__ __contains__ __call__ __enter__ __exit__ __hash__ __add__ __sub__ __mul__ __mod__ __neg__ __abs__ "
    "__and__ __or__ __xor__ __invert__ __reversed__ __missing__ __wrapped__ __all__ __version__ __slots__ __copy__ "
    "__deepcopy__ __name __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __str__ __repr__".split()
)


def reach(text):
    """Uses in `text`, sorted; nothing for text that is no Python."""
    try:
        return sorted(uses(text, False, set()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def uses(text, strict, own):
    found = collections.Counter()
    for node in ast.walk(ast.parse(text)):
        found.update(uses_of(node, strict, own))
    return found


def uses_of(node, strict, own):
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from imported(node, strict, own)
    elif isinstance(node, ast.Name):
        yield from named(node.id, strict)
        if node.id in CALLS or (strict and node.id in CHANCE):
            yield "name " + node.id
    elif isinstance(node, ast.Attribute):
        yield from named(node.attr, strict)
        if node.attr.lstrip("_") in MODULES or node.attr in CALLS:
            yield "attribute " + node.attr
    elif isinstance(node, ast.Call):
        yield from called(node)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in LIARS:
        yield "method " + node.name
    elif isinstance(node, ast.ClassDef) and node.keywords:
        yield "metaclass"
    elif isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        if re.fullmatch(r"\s*__\w+__\s*", text) or re.search(r"[.{]\w*\.?__\w+__", text):
            yield "text " + text.strip()[:40]
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name) and target.id in LIARS:
                yield "method " + target.id


def imported(node, strict, own):
    if isinstance(node, ast.ImportFrom) and node.level == 0 or isinstance(node, ast.Import):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        for name in names:
            top = name.partition(".")[0]
            if top not in PLAIN and top not in own and (strict or top not in CLOCKS):
                yield "import " + name
    for alias in node.names:
        last = alias.name.rpartition(".")[2]
        if isinstance(node, ast.ImportFrom) and (last.lstrip("_") in MODULES or last in CALLS or last == "*" and node.level == 0):
            yield "import " + alias.name


def named(name, strict):
    if name in NAMES or name.startswith(("_getframe", "_pytest", "_veriplay")) or name == "_host":
        yield "name " + name
    elif name.startswith("__") and name.endswith("__") and name not in HARMLESS:
        yield "name " + name


def called(node):
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name in ("getattr", "setattr", "hasattr") and not (len(node.args) > 1 and isinstance(node.args[1], ast.Constant)):
        yield name + " by a computed name"
    elif name == "setattr" or name == "type" and len(node.args) > 1:
        yield name
    elif name == "getattr" and isinstance(node.args[1].value, str):
        yield from named(node.args[1].value, False)
        if node.args[1].value.lstrip("_") in MODULES | CALLS:
            yield "attribute " + node.args[1].value
    elif name == "make_dataclass" or name == "namedtuple" and len(node.args) < 2:
        yield name
