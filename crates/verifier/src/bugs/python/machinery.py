"""What a changed file has beyond the original that a repair has no business with.

Not a list of what is forbidden: of each construct, name, attribute and import it is asked whether it is known to be harmless. An
attribute is when a built-in type has it, or an imported module of those below, or the repository defines it, or the file had it.
What else there is, is a use. A unit (a function, a method, the head of a class, another statement of a module or class) may have
the uses it had in the original, when it is as it was or the bug changed it; and no others.

Trusted: it reads text and runs nothing of it. It imports modules of the standard library to see what they have.
"""

import ast
import builtins
import collections
import functools
import importlib
import re
import types

# Modules that lead to nothing a test runner could be reached by, when no name of theirs is used that is a module, is private or
# is one of REACHING. `CLOCKS` only repairs may import.
PLAIN = set(
    "abc array base64 binascii bisect calendar cmath collections collections.abc colorsys contextlib copy csv dataclasses decimal "
    "difflib enum fractions functools heapq html itertools json keyword math numbers operator re statistics string struct "
    "textwrap typing unicodedata warnings zlib __future__".split()
)
CLOCKS = set("datetime hashlib hmac random secrets time uuid zoneinfo".split())
BUILTINS = set(
    "abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter float format frozenset "
    "hash hex id int isinstance issubclass iter len list map max min next object oct ord pow print property range repr reversed "
    "round set slice sorted staticmethod str sum super tuple zip aiter anext NotImplemented Ellipsis __debug__".split()
) | {name for name, found in vars(builtins).items() if isinstance(found, type) and issubclass(found, BaseException)}
CHANCE = {"hash", "id"}
# Of the modules above: they read, make or call what is named by a text, make classes, or change what all code sees.
REACHING = set(
    "get_type_hints ForwardRef evaluate_forward_ref get_overloads get_annotations attrgetter methodcaller make_dataclass update_wrapper "
    "Formatter ABCMeta update_abstractmethods EnumMeta EnumType EnumDict Enum IntEnum StrEnum ReprEnum Flag IntFlag global_enum "
    "NamedTuple TypedDict NewType get_args get_origin evaluate evaluate_bound evaluate_constraints evaluate_default evaluate_value "
    "dataclass total_ordering singledispatch singledispatchmethod register redirect_stdout redirect_stderr chdir showwarning "
    "formatwarning filterwarnings resetwarnings mro partialmethod main with_traceback".split()
)
# What leads from an object to the interpreter's inside, or to anything by its name.
DEEP = set(
    "modules meta_path path_hooks path_importer_cache settrace setprofile monitoring excepthook unraisablehook displayhook exc_info "
    "get_objects get_referrers get_referents callbacks finalize gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await ag_frame "
    "ag_code tb_frame tb_next tb_lineno f_back f_locals f_globals f_builtins f_code bltns nodeid longrepr outcome wasxfail _getframe "
    "_current_frames __import__ compile delattr eval exec globals locals setattr vars getattr hasattr gc inspect importlib ctypes "
    "__dict__ __globals__ __code__ __getattribute__ __setattr__ __delattr__ __subclasses__ __builtins__ __traceback__ __closure__ "
    "__mro__ __bases__ __self__ __func__ __loader__ __spec__".split()
)
# And to modules, whoever has them.
INSIDE = DEEP | set(
    "breakpoint exit input memoryview open quit sys os io builtins types traceback linecache atexit signal threading weakref site "
    "code codecs pickle marshal unittest pytest pluggy pathlib shutil tempfile subprocess multiprocessing socket runpy pkgutil "
    "zipimport tracemalloc faulthandler posix symtable dis asyncio concurrent logging program conftest".split()
)
# Methods that a class may have anew. Those that decide what equals what, or what an operator gives, are not among them.
METHODS = set(
    "__init__ __iter__ __next__ __enter__ __exit__ __aenter__ __aexit__ __call__ __getitem__ __setitem__ __delitem__ __missing__ "
    "__post_init__".split()
)
SPECIAL_NAMES = {"__name__", "__doc__", "__all__", "__version__", "__slots__"}
SPECIAL_ATTRIBUTES = METHODS | set(
    "__name__ __qualname__ __doc__ __new__ __hash__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __len__ __contains__ __str__ "
    "__repr__ __add__ __sub__ __mul__ __mod__ __neg__ __abs__ __and__ __or__ __xor__ __invert__ __reversed__ __copy__ "
    "__deepcopy__ __version__ __all__".split()
)
# Types whose methods and members anybody may name.
TYPES = [str, bytes, bytearray, int, float, complex, bool, list, tuple, dict, set, frozenset, range, slice, BaseException, OSError,
         StopIteration, UnicodeDecodeError, UnicodeEncodeError, SyntaxError, KeyError, type(x for x in ())]
NODES = set(
    "Module FunctionDef AsyncFunctionDef ClassDef Return Delete Assign AugAssign AnnAssign For AsyncFor While If With AsyncWith Match "
    "Raise Try TryStar Assert Import ImportFrom Global Nonlocal Expr Pass Break Continue BoolOp NamedExpr BinOp UnaryOp Lambda "
    "IfExp Dict Set ListComp SetComp DictComp GeneratorExp Await Yield YieldFrom Compare Call FormattedValue JoinedStr Constant "
    "Attribute Subscript Starred Name List Tuple Slice comprehension ExceptHandler arguments arg keyword alias withitem match_case "
    "MatchValue MatchSingleton MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr".split()
)
EMPTY = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)


def machinery(before, buggy, after, strict, own, defined, reaching):
    """Uses of `after` that it may not have, sorted; nothing for text that is no Python. `own` are the modules of the repository,
    `defined` the names it defines, `reaching` those of them whose code has uses itself."""
    if cookie(after) not in (None, cookie(before)):
        return ["an encoding of its own: " + cookie(after)]
    try:
        tree = ast.parse(after)
    except (SyntaxError, ValueError):
        return []
    try:
        was, bug = parsed(before), parsed(buggy)
        known = Known(strict, own, defined, reaching, [was, bug], tree)
        return beyond(units(was, before), units(bug, buggy), units(tree, after), known)
    except (RecursionError, MemoryError):
        return ["code nested too deep to be read"]


def parsed(text):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.parse("")


def cookie(text):
    """The encoding that a file asks for, which a parser of text does not see."""
    for line in text.splitlines()[:2]:
        found = COOKIE.match(line)
        if found:
            name = found[1].lower().replace("_", "-")
            return None if name in ("utf-8", "utf8") else name
    return None


def beyond(was, bug, now, known):
    """Uses in units of `now` that are not as they were, beyond those of the same units where the bug changed them."""
    same = {text for found in was.values() for text, _ in found}
    allowed, used = collections.Counter(), collections.Counter()
    for key, found in was.items():
        left = {text for text, _ in bug.get(key, [])}
        for text, unit in found:
            if text not in left:
                allowed.update((key, use) for use in known.uses(unit))
    for key, found in now.items():
        for text, unit in found:
            if text not in same:
                used.update((key, use) for use in known.uses(unit))
    return sorted({use for _, use in used - allowed})


def units(tree, source):
    """(text, node) of each unit, by its qualified name, or that of its class where it has none."""
    found, lines = {}, source.splitlines()

    def visit(body, prefix, owner):
        for node in body:
            name, node.owner = prefix, owner
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                name = prefix + "." + node.name
            first = min([node.lineno] + [found.lineno for found in getattr(node, "decorator_list", [])])
            text = prefix + "\n" + "\n".join(lines[first - 1 : node.end_lineno])
            if isinstance(node, ast.ClassDef):
                visit(node.body, name, node.name)
                parts = dict(ast.iter_fields(node), body=[])
                node = ast.ClassDef(**parts)
                node.owner, text = owner, prefix + ast.dump(node)
            found.setdefault(name, []).append((text, node))

    visit(tree.body, "", "")
    return found


def definitions(text, own):
    """(names a file defines, names it binds by imports from outside, names of its functions and classes that have uses)."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ([], [], [])
    defined, imported, reaching = set(), set(), set()
    for node in ast.walk(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            defined.add(node.attr)
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and not is_own(node, own):
            imported.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    known = Known(False, own, [], [], [tree], tree)
    for key, found in units(tree, text).items():
        *above, name = key.split(".")
        for unit in [unit for _, unit in found if any(map(reaches, known.uses(unit)))]:
            if isinstance(unit, (*FUNCTIONS, ast.ClassDef)):
                # What a class does when it is made is reached by its own name.
                reaching.add(above[-1] if is_special(name) and above else name)
            else:
                reaching.update(bound for node in ast.walk(unit) for bound in bound_by(node))
    return (sorted(defined), sorted(imported), sorted(reaching - {""}))


def reaches(use):
    """Whether a use is one that reads, writes or runs what is named by a text, or opens the interpreter's inside."""
    return use in ("computed getattr", "value getattr", "value setattr") or use.rpartition(" ")[2] in DEEP


def is_own(node, own):
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").partition(".")[0] in own
    return all(alias.name.partition(".")[0] in own for alias in node.names)


class Known:
    """What is harmless in a file, and the uses of a unit of it: what is not."""

    def __init__(self, strict, own, defined, reaching, earlier, tree):
        self.strict, self.own, self.reaching = strict, set(own), set(reaching)
        self.members, self.outside, self.modules, self.bound = members(*TYPES), set(), {}, set()
        # Where one is, a name that nothing binds may be anything.
        self.has_star = False
        self.defined = set(defined) - INSIDE
        for found in earlier:
            self.read(found, True)
        self.read(tree, False)

    def read(self, tree, is_earlier):
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imported(node)
            elif isinstance(node, ast.Attribute):
                earlier = is_earlier and not node.attr.startswith("_")
                if earlier or isinstance(node.ctx, ast.Store) and node.attr not in self.defined and node.attr not in library():
                    self.defined.update({node.attr} - INSIDE)
            elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                self.defined.update({node.name} - INSIDE)
            elif is_earlier and isinstance(node, ast.Name):
                self.bound.add(node.id)
            self.bound.update(bound_by(node))

    def imported(self, node):
        """Learns what an import binds, and what the module has."""
        for alias in node.names:
            self.has_star |= alias.name == "*"
            bound = (alias.asname or alias.name).partition(".")[0]
            name = alias.name if isinstance(node, ast.Import) else node.module or ""
            if is_own(node, self.own):
                if isinstance(node, ast.ImportFrom) and alias.name in self.reaching:
                    self.outside.add(bound)
            elif name in PLAIN or name in CLOCKS:
                self.members |= public(name)
                if isinstance(node, ast.Import):
                    self.modules.setdefault(bound, set()).add(name if alias.asname else bound)
            else:
                self.outside.add(bound)

    def uses(self, unit):
        return list(self.of(unit, None, unit.owner))

    def of(self, node, parent, owner):
        if isinstance(node, EMPTY):
            return
        kind = type(node).__name__
        if kind not in NODES:
            yield "construct " + kind
        for name in bound_by(node):
            yield from self.binding(name, node, owner)
        check = CHECKS.get(kind)
        if check is not None:
            yield from check(self, node, parent)
        inner = node.name if kind == "ClassDef" else owner
        for child in ast.iter_child_nodes(node):
            yield from self.of(child, node, inner)

    def binding(self, name, node, owner):
        function = isinstance(node, FUNCTIONS)
        if is_special(name):
            if not (name in METHODS and function and owner or name in SPECIAL_NAMES and not function):
                yield "binding " + name
        elif re.match(r"_[^_].*?__.", name):
            yield "binding " + name + ", which reads as a mangled name"
        elif name.startswith("__") and owner and "_" + owner.lstrip("_") + name in library():
            yield "binding " + name + ", which is mangled to a name of the library's"

    def name(self, node, parent):
        name = node.id
        if not isinstance(node.ctx, ast.Load):
            return
        called = isinstance(parent, ast.Call) and parent.func is node
        if name in ("getattr", "hasattr"):
            if not called:
                yield "value getattr"
        elif name == "type":
            asked = called and getattr(parent, "asked", False)
            listed = isinstance(parent, ast.Call) and not called and getattr(parent.func, "id", "") in ("isinstance", "issubclass")
            if not (asked or listed or isinstance(parent, ast.Compare)):
                yield "value type"
        elif is_special(name):
            if name not in SPECIAL_NAMES and name != "__debug__":
                yield "name " + name
        elif hasattr(builtins, name):
            if name not in BUILTINS or self.strict and name in CHANCE:
                yield "name " + name
        elif name in self.outside or name in self.reaching or name in REACHING or self.has_star and name not in self.bound:
            yield "name " + name

    def attribute(self, node, parent):
        name, root = node.attr, node
        if not isinstance(node.ctx, ast.Load):
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            if isinstance(root, ast.Name) and (root.id in self.modules or root.id in self.outside):
                yield "assignment to " + name + " of what is not the repository's"
            elif is_special(name) or name in INSIDE:
                yield "assignment to " + name
            elif name not in self.defined and name in library():
                yield "assignment to " + name + ", which is a name of the library's"
            return
        if name == "__class__" and isinstance(parent, ast.Attribute) and parent.attr in ("__name__", "__qualname__"):
            return
        found = self.modules.get(node.value.id, ()) if isinstance(node.value, ast.Name) else ()
        if not all(name in public(module) for module in found):
            yield "attribute " + name
        else:
            yield from self.read_attribute(name)
        if name in ("format", "format_map") and isinstance(parent, ast.Call) and parent.func is node:
            yield from formatted(node.value)

    def read_attribute(self, name):
        if is_special(name):
            known = name in SPECIAL_ATTRIBUTES
        elif name in INSIDE or name in REACHING and name not in self.defined:
            known = False
        elif name in self.reaching:
            known = name in self.members
        else:
            known = name in self.members or name in self.defined
        if not known:
            yield "attribute " + name

    def call(self, node, parent):
        function = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if isinstance(node.func, ast.Name) and function == "type":
            # Its class is asked after, and not made anything of.
            named = isinstance(parent, ast.Attribute) and parent.attr in ("__name__", "__qualname__")
            node.asked = len(node.args) == 1 and not node.keywords and (named or isinstance(parent, (ast.Compare, ast.FormattedValue)))
        elif isinstance(node.func, ast.Name) and function in ("getattr", "hasattr"):
            name = node.args[1] if len(node.args) > 1 and not isinstance(node.args[0], ast.Starred) else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield from self.read_attribute(name.value)
            else:
                yield "computed getattr"
        elif function == "wraps" and (len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred)):
            yield "value wraps"

    def class_pattern(self, node, parent):
        for name in node.kwd_attrs:
            yield from self.read_attribute(name)
        if node.patterns and not (isinstance(node.cls, ast.Name) and getattr(builtins, node.cls.id, None) in TYPES):
            yield "construct MatchClass by position"

    def class_(self, node, parent):
        if node.keywords:
            yield "construct metaclass"
        for base in node.bases:
            name = base.id if isinstance(base, ast.Name) else ""
            found = getattr(builtins, name, None)
            harmless = found is object or isinstance(found, type) and issubclass(found, BaseException)
            if not harmless and name not in self.defined:
                yield "construct class derived from " + (ast.unparse(base))

    def import_(self, node, parent):
        for alias in node.names:
            last = alias.name.rpartition(".")[2]
            if is_own(node, self.own):
                if isinstance(node, ast.ImportFrom):
                    if last == "*" or last in INSIDE or last in self.reaching or not self.is_of_repository(last):
                        yield "import " + alias.name
                continue
            name = alias.name if isinstance(node, ast.Import) else node.module or ""
            if name not in PLAIN and (self.strict or name not in CLOCKS):
                yield "import " + name
            elif isinstance(node, ast.ImportFrom) and name != "__future__" and (last not in public(name) or last in REACHING | INSIDE):
                yield "import " + name + "." + last

    def is_of_repository(self, name):
        return name in self.defined or name in self.own or is_special(name) and name in SPECIAL_NAMES

    def constant(self, node, parent):
        if isinstance(node.value, (str, bytes)):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            if re.fullmatch(r"\s*__\w+__\s*", text) or re.search(r"[.{]\w*\.?__\w+__", text):
                yield "text " + text.strip()[:40]


CHECKS = {
    "Name": Known.name,
    "Attribute": Known.attribute,
    "Call": Known.call,
    "MatchClass": Known.class_pattern,
    "ClassDef": Known.class_,
    "Import": Known.import_,
    "ImportFrom": Known.import_,
    "Constant": Known.constant,
}


def is_special(name):
    return name.startswith("__") and name.endswith("__")


def bound_by(node):
    """The names that a node binds by itself."""
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    return node.names if isinstance(node, (ast.Global, ast.Nonlocal)) else []


def formatted(text):
    if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
        yield "computed format"
    elif re.search(r"\{[^{}]*[.\[]", text.value.replace("{{", "").replace("}}", "")):
        yield "computed format"


def members(*kinds):
    return {name for kind in kinds for name in dir(kind) if not name.startswith("_")}


@functools.cache
def library():
    """Names that mean something to code that is not the repository's: to assign one, or to override it, may change what that does."""
    found = set(dir(builtins))
    found |= {name for kind in vars(builtins).values() if isinstance(kind, type) for name in dir(kind)}
    for module in "collections contextlib copy dataclasses decimal enum fractions functools json operator random re statistics string " \
                  "typing unittest warnings".split():
        for name, value in vars(importlib.import_module(module)).items():
            found.add(name)
            found.update(dir(value) if isinstance(value, type) else ())
    return found


def public(module):
    """What a module of the library has that is no module, and what the classes of it have."""
    if module not in PUBLIC:
        found = {name: value for name, value in vars(importlib.import_module(module)).items() if not name.startswith("_")}
        found = {name: value for name, value in found.items() if not isinstance(value, types.ModuleType)}
        PUBLIC[module] = set(found) | members(*(value for value in found.values() if isinstance(value, type)))
    return PUBLIC[module]


PUBLIC = {}
