"""What a changed file has beyond the original that a repair has no business with.

Not a list of what is forbidden: of each construct, name, attribute and import it is asked whether it is known to be harmless. An
attribute is when a built-in type has it, or an imported module of those below, or the original repository defines it, or the
original file had it, or a class of the changed file has it and it means nothing to the interpreter or to pytest. What else there
is, is a use. A unit (a function, a method, the head of a class, another statement of a module or class) may have the uses it had
in the original, when its syntax tree is as it was or the bug changed it; and no others.

Trusted: it reads files as an import does, as bytes, and runs nothing of them. It imports modules of the standard library to see
what they have.
"""

import ast
import builtins
import collections
import functools
import importlib
import re
import string
import sys
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
# Of the modules above: they read or call what is named by a text.
DOORS = set(
    "attrgetter methodcaller Formatter vformat get_field get_type_hints ForwardRef evaluate_forward_ref get_annotations evaluate "
    "evaluate_bound evaluate_constraints evaluate_default evaluate_value".split()
)
# And these make classes, or change what all code sees.
REACHING = DOORS | set(
    "get_overloads make_dataclass update_wrapper ABCMeta update_abstractmethods EnumMeta EnumType EnumDict Enum IntEnum StrEnum "
    "ReprEnum Flag IntFlag global_enum NamedTuple TypedDict NewType get_args get_origin dataclass total_ordering singledispatch "
    "singledispatchmethod register redirect_stdout redirect_stderr chdir showwarning formatwarning filterwarnings resetwarnings mro "
    "partialmethod main with_traceback setcontext catch_warnings warn_explicit deprecated".split()
)
# Methods of strings that read attributes of what they are given, by names in the string.
FORMATS = {"format", "format_map", "vformat"}
# Attributes of pytest's reports.
REPORTS = set("nodeid longrepr outcome wasxfail".split())
# What leads from an object to the interpreter's inside, or to anything by its name.
DEEP = REPORTS | set(
    "modules meta_path path_hooks path_importer_cache settrace setprofile monitoring excepthook unraisablehook displayhook exc_info "
    "get_objects get_referrers get_referents callbacks finalize gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await ag_frame "
    "ag_code tb_frame tb_next tb_lineno f_back f_locals f_globals f_builtins f_code bltns _getframe "
    "_current_frames __import__ compile delattr eval exec globals locals setattr vars getattr hasattr gc inspect importlib ctypes "
    "__dict__ __globals__ __code__ __getattribute__ __setattr__ __delattr__ __subclasses__ __builtins__ __traceback__ __closure__ "
    "__mro__ __bases__ __self__ __func__ __loader__ __spec__".split()
) | {
    name
    for kind in (types.CodeType, types.FrameType, types.TracebackType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
    for name in dir(kind)
    if re.match(r"(co|f|tb|gi|cr|ag)_", name)
}
# And to modules, whoever has them.
INSIDE = DEEP | set(
    "breakpoint exit input memoryview open quit sys os io builtins types traceback linecache atexit signal threading weakref site "
    "code codecs pickle marshal unittest pytest pluggy pathlib shutil tempfile subprocess multiprocessing socket runpy pkgutil "
    "zipimport tracemalloc faulthandler posix symtable dis asyncio concurrent logging program conftest".split()
)
# Attributes that mean something to pytest or unittest: only the original may have them.
TESTERS = set(
    "runtest obj originalname own_markers fixturenames funcargs callspec ihook stash pluginmanager sections excinfo pytestmark "
    "setUp tearDown setUpClass tearDownClass asyncSetUp asyncTearDown runTest setup_method teardown_method setup_class teardown_class "
    "setup_function teardown_function setup_module teardown_module setUpModule tearDownModule".split()
)
# Attributes of files, paths and fixtures, which a test may hand over: that a class of the patch has one does not make them known.
FILES = set(
    "read read_text read_bytes readline readlines readinto read1 write write_text write_bytes writelines getvalue getbuffer buffer "
    "detach raw fileno iterdir glob rglob walk scandir unlink rename symlink_to hardlink_to readlink touch mkdir rmdir chmod "
    "setitem delitem setenv delenv syspath_prepend side_effect return_value readouterr records getfixturevalue addfinalizer "
    "applymarker add_marker iter_markers".split()
)
# Methods that a class may have anew. None of them is given what a test expects: those that decide what equals, contains or orders
# what, or what an operator of two values gives, are not among them, nor what decides which attributes an object has.
METHODS = set(
    "__init__ __iter__ __next__ __enter__ __exit__ __aenter__ __aexit__ __call__ __getitem__ __setitem__ __delitem__ __missing__ "
    "__post_init__ __len__ __length_hint__ __bool__ __hash__ __repr__ __str__ __bytes__ __int__ __float__ __complex__ __index__ "
    "__neg__ __pos__ __abs__ __invert__ __round__ __trunc__ __floor__ __ceil__ __reversed__ __aiter__ __anext__ __copy__".split()
)
OPERATORS = set(
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __contains__ __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ "
    "__matmul__ __rmatmul__ __truediv__ __rtruediv__ __itruediv__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__ __imod__ "
    "__divmod__ __pow__ __rpow__ __ipow__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__ __rxor__ __ixor__ __lshift__ __rshift__".split()
)
SPECIAL_NAMES = {"__name__", "__doc__", "__all__", "__version__", "__slots__"}
SPECIAL_ATTRIBUTES = METHODS | set(
    "__name__ __qualname__ __doc__ __new__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __contains__ __add__ __sub__ __mul__ __mod__ "
    "__and__ __or__ __xor__ __deepcopy__ __version__ __all__".split()
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
IMPORTS = (ast.Import, ast.ImportFrom)
MODULE, CLASS, FUNCTION = "module", "class", "function"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
COOKIE = re.compile(rb"coding[:=][ \t]*([-\w.]+)")
LONGEST_NAME = 200
# Of a class, `Py_TPFLAGS_IMMUTABLETYPE`.
IMMUTABLE = 1 << 8
ALONE = ("program", False)


def machinery(file, before, buggy, after, strict, names):
    """Uses of the bytes `after` that they may not have, sorted. `file` is the module's name and whether it is a package, `names`
    are those of the repository, see [`Names`]."""
    if opening(after) not in ((False, []), opening(before)):
        return ["an encoding of its own"]
    try:
        tree = parsed(after)
        was, bug = parsed_or_empty(before), parsed_or_empty(buggy)
        known = Known(file, strict, Names(names), was, tree)
        return beyond(was, bug, tree, known)
    except (SyntaxError, ValueError):
        return ["text that is no Python"]
    except (RecursionError, MemoryError):
        return ["code nested too deep to be read"]


def alone(data):
    """Uses of a program that is no part of a repository. Its attributes are its own, but for those by which the library hands something out;
    one that nothing in the library has leads nowhere; and there is no test that its operators could lie to, nor a test runner."""
    try:
        read = {node.attr for node in ast.walk(parsed(data)) if isinstance(node, ast.Attribute) and node.attr[:1] != "_"}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        read = set()
    attributes, own = map(set, definitions(ALONE, data, [], [])[:2])
    attributes |= read - library() - INSIDE - FILES - FORMATS - TESTERS
    names = {"attributes": attributes - REACHING - (DEEP - REPORTS), "globals": own, "alone": True}
    found = machinery(ALONE, b"", b"", data, False, names)
    return [use for use in found if use != "text __main__" and use.removeprefix("binding ") not in OPERATORS]


def keep():
    """Keeps this module where the jobs behind a preload can import it, with what it reads of the library once for all of them."""
    sys.modules["machinery"] = sys.modules[__name__]
    library()


def parsed(data):
    """The syntax tree of a file as an import compiles it: what it opens with decides how its bytes are read."""
    return compile(data, "<file>", "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)


def parsed_or_empty(data):
    try:
        return parsed(data)
    except (SyntaxError, ValueError):
        return parsed(b"")


def opening(data):
    """Whether a file begins with a byte order mark, and the encodings its first two lines name that are not UTF-8."""
    lines = re.split(rb"\r\n|\r|\n", data, maxsplit=2)[:2]
    named = [found[1].lower().replace(b"_", b"-") for line in lines if b"#" in line for found in COOKIE.finditer(line)]
    return (data.startswith(BYTE_ORDER_MARK), [name for name in named if name not in (b"utf-8", b"utf8")])


def beyond(was, bug, now, known):
    """Uses in units of `now` that are not as they were, beyond those of the same units where the bug changed them."""
    places = {}
    was, bug, now = (list(units(tree, places)) for tree in (was, bug, now))
    same = {unit.identity() for unit in was}
    left = {unit.identity() for unit in bug}
    allowed, used = collections.Counter(), collections.Counter()
    for unit in was:
        if unit.identity() not in left:
            allowed.update((unit.place, use) for use in known.uses(unit))
    for unit in now:
        if unit.identity() not in same:
            used.update((unit.place, use) for use in known.uses(unit))
    return sorted({use for _, use in used - allowed})


class Unit:
    """A part of a file: its `place` is a number that stands for its qualified name, or that of its class where it has none."""

    def __init__(self, node, above, place, owner, level):
        self.node, self.above, self.place, self.owner, self.level = node, above, place, owner, level
        self.shape = None

    def identity(self):
        """What it is and what it is in. Two that are equal are the same code."""
        if self.shape is None:
            self.shape = (self.above, shape(self.node))
        return self.shape


def shape(node):
    """A syntax tree without its positions, to be compared: 1, 1.0 and True are three."""
    if isinstance(node, ast.AST):
        return (node.__class__, *[shape(getattr(node, field, None)) for field in node._fields if field != "ctx"])
    if node.__class__ is list:
        return tuple(map(shape, node))
    return node if node is None or node.__class__ in (str, bytes) else (node.__class__, repr(node))


def units(tree, places):
    """The units of a file. `places` gives each (place above, name) its number."""
    left = [(node, 0, "", MODULE) for node in reversed(tree.body)]
    while left:
        node, above, owner, level = left.pop()
        place = above
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            place = places.setdefault((above, node.name), len(places) + 1)
        if isinstance(node, ast.ClassDef):
            left.extend((child, place, node.name, CLASS) for child in reversed(node.body))
            node = ast.ClassDef(**dict(ast.iter_fields(node), body=[]))
        yield Unit(node, above, place, owner, level)


def definitions(file, data, modules, reaching):
    """What a file defines: (attributes, names of the module, classes, names bound by imports from outside, names whose code
    has uses that read, write or run what is named by a text, or open the interpreter's inside). A variable that holds what is
    called as one of `reaching` is one of these too."""
    try:
        tree = parsed(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ([], [], [], [], [])
    names, reaching_before = Names({"modules": modules}), set(reaching)
    attributes, own, classes, imported, reaching = set(), set(), set(), set(), set()
    for node, _, level in nodes(tree, MODULE):
        for name in bound_by(node):
            if isinstance(node, ast.Global) or level == MODULE:
                own.add(name)
            elif level == CLASS:
                attributes.add(name)
        if isinstance(node, ast.ClassDef):
            classes.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            attributes.add(node.attr)
        elif isinstance(node, IMPORTS) and not is_own(node, names):
            imported.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Call, ast.Assign)):
            attributes.update(fields_of(node))
    known = Known(file, False, names, tree, tree)
    for unit in units(tree, {}):
        uses, node = known.uses(unit), unit.node
        is_made = not isinstance(node, (*FUNCTIONS, ast.ClassDef))
        if isinstance(node, IMPORTS):
            doors = DEEP | DOORS | reaching_before
            whole = isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] in DEEP
            found = (alias for alias in node.names if whole or alias.name.rpartition(".")[2] in doors)
            reaching.update((alias.asname or alias.name).partition(".")[0] for alias in found)
        elif any(map(reaches, uses)) or is_made and not reaching_before.isdisjoint(held_by(node)):
            if not is_made:
                # What a class does when it is made is reached by its own name.
                reaching.add(unit.owner if is_special(node.name) and unit.owner else node.name)
            else:
                inside = owned(node, unit.owner, unit.level)
                lasting = (inner for inner, _, level in inside if level != FUNCTION and not isinstance(inner, ast.ExceptHandler))
                reaching.update(bound for inner in lasting for bound in bound_by(inner))
    return tuple(sorted(found - {""}) for found in (attributes, own, classes, imported, reaching))


def held_by(statement):
    """Names of what a statement has in hand: what it only calls is not kept."""
    called = {node.func for node in ast.walk(statement) if isinstance(node, ast.Call)}
    for node in ast.walk(statement):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load) and node not in called:
            yield node.id if isinstance(node, ast.Name) else node.attr


def fields_of(node):
    """Attributes that are named by texts: fields of named tuples, and slots."""
    texts = []
    if isinstance(node, ast.Call):
        function = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if function in ("namedtuple", "NamedTuple", "TypedDict", "make_dataclass"):
            texts = [found for argument in node.args for found in ast.walk(argument)]
    elif any(isinstance(target, ast.Name) and target.id == "__slots__" for target in node.targets):
        texts = ast.walk(node.value)
    for text in texts:
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield from (word for word in re.split(r"[\s,]+", text.value) if word.isidentifier())


def reaches(use):
    """Whether a use is one that reads, writes or runs what is named by a text, or opens the interpreter's inside."""
    last = use.rpartition(" ")[2].rpartition(".")[2]
    return use in ("computed getattr", "value getattr", "value setattr", "computed format") or last in DEEP or last in DOORS


class Names:
    """Names of the original repository: its modules of code, whole; its modules of tests; attributes and module-level names that
    its code defines, its classes, names it has from outside, names of code that reaches; and words of tests that import
    everything a module has."""

    def __init__(self, names):
        self.modules = set(names.get("modules", ()))
        self.own = {name.partition(".")[0] for name in self.modules}
        self.parts = {part for name in self.modules for part in name.split(".")}
        self.tests = set(names.get("tests", ()))
        self.attributes = set(names.get("attributes", ()))
        self.globals = set(names.get("globals", ()))
        self.classes = set(names.get("classes", ()))
        self.imported = set(names.get("imported", ()))
        self.reaching = set(names.get("reaching", ()))
        self.starred = set(names.get("starred", ()))
        # Names of modules, and of what a test runner has, that the file may give to what is its own: no module is a value in it, and
        # nothing else that it could hold has such an attribute to lead anywhere.
        self.alone = names.get("alone", False)
        self.free = (self.attributes | self.globals) - (DEEP - REPORTS) if self.alone else set()
        # Where a test module hangs in a package of code: to name it there is to have it.
        above = ((name.rpartition(".")[0], name.rpartition(".")[2]) for name in self.tests)
        self.hidden = {last for package, last in above if package in self.modules}


def is_own(node, names):
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").partition(".")[0] in names.own
    return all(alias.name.partition(".")[0] in names.own for alias in node.names)


class Known:
    """What is harmless in a file, and the uses of a unit of it: what is not."""

    def __init__(self, file, strict, names, was, tree):
        self.file, self.strict, self.names = file, strict, names
        # Those with an underscore are what a named tuple has for everybody.
        self.members = members(*TYPES) | {"_asdict", "_fields", "_make", "_replace"}
        self.outside, self.modules, self.own_modules, self.own_bound = set(), {}, set(), set()
        # Where one is, a name that nothing binds may be anything.
        self.has_star = False
        # Of the original file: what it binds and where, attributes it reads, texts, imports, and what binds its names otherwise
        # than a class does.
        self.was_bound, self.seen, self.texts, self.was_imported, self.was_other = set(), set(), set(), set(), {}
        # Of the new one: names it binds anywhere, by what; and attributes that are its own classes'.
        self.bound, self.constants, self.other, self.new = collections.Counter(), {}, {}, set()
        self.bound_before = set()
        # What imports from the library bind, as (module, name).
        self.from_library = {}
        self.read_original(was)
        self.read(tree)
        self.library_bound = self.outside | set(self.modules)
        self.inside, self.testers = INSIDE - names.free, TESTERS - names.free
        self.held = self.attributes_held(tree) if names.alone else set()

    def read_original(self, tree):
        for node, statement, level in nodes(tree, MODULE):
            for name in bound_by(node):
                self.was_bound.add((level, name))
                self.bound_before.add(name)
                if not isinstance(node, ast.ClassDef):
                    self.was_other.setdefault(name, []).append((statement, node))
            if isinstance(node, IMPORTS):
                self.imported(node)
                self.was_imported.add(ast.dump(node))
            elif isinstance(node, ast.Attribute):
                self.seen.add(node.attr)
            elif isinstance(node, ast.Name):
                self.bound_before.add(node.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.texts.add(node.value)
        self.seen = {name for name in self.seen if not name.startswith("_")}

    def read(self, tree):
        for node, statement, level in nodes(tree, MODULE):
            for name in bound_by(node):
                self.bound[name] += 1
                if not isinstance(node, ast.ClassDef):
                    self.other.setdefault(name, []).append((statement, node))
                if level == CLASS:
                    self.new.add(name)
            if isinstance(node, IMPORTS):
                self.imported(node)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr not in library():
                self.new.add(node.attr)
            elif isinstance(node, ast.Assign) and level == FUNCTION:
                self.constants.update((target.id, node) for target in node.targets if isinstance(target, ast.Name))
        self.new -= INSIDE | REACHING | TESTERS | FORMATS | FILES

    def imported(self, node):
        """Learns what an import binds, and what the module has."""
        for alias in node.names:
            self.has_star |= alias.name == "*"
            bound = (alias.asname or alias.name).partition(".")[0]
            name = alias.name if isinstance(node, ast.Import) else node.module or ""
            if is_own(node, self.names):
                self.own_bound.add(bound)
                if isinstance(node, ast.Import) or self.resolved(node) + "." + alias.name in self.names.modules | self.names.tests:
                    self.own_modules.add(bound)
                elif alias.name in self.names.reaching or alias.name in self.names.imported:
                    self.outside.add(bound)
            elif name in PLAIN or name in CLOCKS:
                self.members |= public(name)
                if isinstance(node, ast.Import):
                    self.modules.setdefault(bound, set()).add(name if alias.asname else bound)
                elif alias.name in REACHING or alias.name in INSIDE or alias.name not in public(name):
                    self.outside.add(bound)
                else:
                    self.modules.setdefault(bound, set())
                    self.from_library.setdefault(bound, set()).add((name, alias.name))
            else:
                self.outside.add(bound)

    def attributes_held(self, tree):
        """Attributes of what can be changed in the library and goes where it may get another name."""
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        found = set()
        for node in ast.walk(tree):
            named = set()
            if isinstance(node, ast.Name):
                named = self.from_library.get(node.id, named)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                named = {(module, node.attr) for module in self.modules.get(node.value.id, ())}
            for module, name in named:
                value = getattr(importlib.import_module(module), name, None)
                # An alias of `typing` hands on what it is assigned.
                kind = getattr(value, "__origin__", value)
                if can_change(kind) and self.is_handed(node, value, parents):
                    found.update(dir(kind))
        return found

    def is_handed(self, node, value, parents):
        """Whether a named value goes anywhere: it is not only called, read from, raised, caught, asked for or in an annotation."""
        parent = parents.get(node)
        if isinstance(parent, ast.Attribute):
            # An error would hold what has no such attribute.
            return not hasattr(value, parent.attr)
        if isinstance(parent, ast.Call) and parent.func is node or isinstance(parent, ast.Raise) and parent.exc is node:
            return False
        if isinstance(parent, (*FUNCTIONS, ast.ClassDef)) and node in parent.decorator_list:
            return False
        while isinstance(parent, (ast.Tuple, ast.Subscript, ast.BinOp)) and self.is_of_library(parent):
            node, parent = parent, parents.get(parent)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func is not node:
            return parent.func.id not in ("isinstance", "issubclass") or self.bound[parent.func.id] > 0
        where = {ast.arg: "annotation", ast.AnnAssign: "annotation", ast.ExceptHandler: "type", ast.MatchClass: "cls"}
        where.update((kind, "returns") for kind in FUNCTIONS)
        return getattr(parent, where.get(type(parent), ""), None) is not node

    def is_of_library(self, node):
        """Whether an expression, such as one of types, is made of names of the library's and nothing else: no code of the file's is run
        for it."""
        for part in ast.walk(node):
            if isinstance(part, (ast.Name, ast.Attribute)):
                name = root(part)
                if not is_builtin(name, self.bound) and (name not in self.library_bound or self.bound[name] != 1):
                    return False
            elif not isinstance(part, (ast.Subscript, ast.Tuple, ast.BinOp, ast.Constant, *EMPTY)):
                return False
        return True

    def resolved(self, node):
        """The whole name of the module that something is imported from; "?" where there is none."""
        if not node.level:
            return node.module or ""
        module, is_package = self.file
        parts = module.split(".") if is_package else module.split(".")[:-1]
        up = node.level - 1
        if not module or up >= len(parts) and (up or not parts):
            return "?"
        parts = parts[: len(parts) - up]
        return ".".join(parts + ([node.module] if node.module else []))

    def uses(self, unit):
        """All that is not known to be harmless, once an occurrence."""
        self.parents = {child: node for node in ast.walk(unit.node) for child in ast.iter_child_nodes(node)}
        found = []
        for node, owner, level in owned(unit.node, unit.owner, unit.level):
            kind = type(node).__name__
            if kind not in NODES:
                found.append("construct " + kind)
            for name in bound_by(node):
                found.extend(self.binding(name, node, owner, level))
            check = CHECKS.get(kind)
            if check is not None:
                found.extend(check(self, node, self.parents.get(node)))
        return found

    def binding(self, name, node, owner, level):
        function = isinstance(node, FUNCTIONS)
        if len(name) > LONGEST_NAME:
            yield "a name of " + str(len(name)) + " characters"
            return
        if level == CLASS and isinstance(node, ast.alias):
            # What is imported there is an attribute, whose value may be a module.
            yield "import of " + name + " in a class"
        if is_special(name):
            if not (name in METHODS and function and owner or name in SPECIAL_NAMES and not function):
                yield "binding " + name
            elif name == "__all__" and self.names.starred:
                yield "binding __all__, and a test imports all of a module"
            return
        if re.match(r"_[^_].*?__.", name):
            yield "binding " + name + ", which reads as a mangled name"
        elif name.startswith("__") and owner and "_" + owner[:LONGEST_NAME].lstrip("_") + name in library():
            yield "binding " + name + ", which is mangled to a name of the library's"
        at = MODULE if isinstance(node, ast.Global) else level
        if at == FUNCTION and not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.alias)) or (at, name) in self.was_bound:
            return
        if at == CLASS and name in self.names.attributes and name not in self.inside:
            return
        if name in self.inside or name in REACHING or name in self.testers or name in FORMATS or re.match(r"assert[A-Z]", name):
            yield "binding " + name
        elif at == MODULE and hasattr(builtins, name):
            yield "binding " + name + ", which is a built-in name"
        elif at == MODULE and self.names.starred and (name in self.names.starred or re.match(r"(?i)(test|pytest|setup|teardown)", name)):
            yield "binding " + name + ", which a test imports with all of its module"

    def name(self, node, parent):
        name = node.id
        if not isinstance(node.ctx, ast.Load) and not isinstance(parent, ast.AugAssign):
            return
        called = isinstance(parent, ast.Call) and parent.func is node
        if (name in self.own_modules or self.modules.get(name)) and not isinstance(parent, ast.Attribute):
            yield "value " + name + ", which is a module"
        elif ("functools", "wraps") in self.from_library.get(name, ()) or name == "wraps" and not self.bound[name]:
            yield from self.wraps(parent, called)
        if name in ("getattr", "hasattr"):
            if not called:
                yield "value getattr"
        elif name == "type":
            asked = called and len(parent.args) == 1 and not parent.keywords and not isinstance(parent.args[0], ast.Starred)
            if not (self.is_only_asked(parent) if asked else self.is_compared(node)):
                yield "value type"
        elif is_special(name):
            if name not in SPECIAL_NAMES and name != "__debug__":
                yield "name " + name
        elif hasattr(builtins, name):
            if name not in BUILTINS or self.strict and name in CHANCE:
                yield "name " + name
        elif name in self.outside or name in self.names.reaching or name in REACHING:
            yield "name " + name
        elif self.has_star and name not in self.bound_before and name not in self.bound:
            yield "name " + name

    def wraps(self, parent, called):
        """What is wrong with how `functools.wraps` is used: what it gives holds a function that reads and writes attributes by name, so
        that is a decorator, or called at once; and it is told of one function only."""
        place = self.parents.get(parent)
        plain = called and len(parent.args) == 1 and not parent.keywords and not isinstance(parent.args[0], ast.Starred)
        decorates = isinstance(place, (*FUNCTIONS, ast.ClassDef)) and parent in place.decorator_list
        if not plain or not decorates and not (isinstance(place, ast.Call) and place.func is parent):
            yield "value wraps"

    def is_compared(self, node):
        """Whether a class is compared, or is what `isinstance` asks for."""
        parent = self.parents.get(node)
        while isinstance(parent, ast.Tuple) or isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.BitOr):
            node, parent = parent, self.parents.get(parent)
        if isinstance(parent, ast.Call) and parent.func is not node and isinstance(parent.func, ast.Name) and not parent.keywords:
            # Another function of that name would be given the class.
            name = parent.func.id
            return name in ("isinstance", "issubclass") and not self.bound[name] and len(parent.args) == 2
        return isinstance(parent, ast.Compare)

    def is_only_asked(self, node):
        """Whether the class that an expression gives is compared, named, or called in a way that makes no class and gives none:
        what is called may be `type` itself."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.Attribute):
            return parent.attr in ("__name__", "__qualname__")
        if isinstance(parent, ast.FormattedValue) or self.is_compared(node):
            return True
        if isinstance(parent, ast.Call) and parent.func is node:
            plain = not any(isinstance(found, ast.Starred) for found in parent.args) and all(found.arg for found in parent.keywords)
            return plain and len(parent.args) in (0, 2)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            return self.is_variable_only_asked(parent, parent.targets[0].id)
        return False

    def is_variable_only_asked(self, node, name):
        """Whether each use of a variable of a function that holds a class is such a one."""
        while node is not None and not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            node = self.parents.get(node)
        if not isinstance(node, FUNCTIONS):
            return False
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Global, ast.Nonlocal)) and name in inner.names:
                return False
            if isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Load):
                if isinstance(self.parents.get(inner), ast.Assign) or not self.is_only_asked(inner):
                    return False
        return True

    def attribute(self, node, parent):
        name = node.attr
        if len(name) > LONGEST_NAME:
            yield "a name of " + str(len(name)) + " characters"
            return
        if not isinstance(node.ctx, ast.Load):
            if root(node) in self.library_bound or is_builtin(root(node), self.bound):
                yield "assignment to " + name + " of what is not the repository's"
            elif is_special(name) or name in self.inside or name in FORMATS:
                yield "assignment to " + name
            elif name in self.held:
                yield "assignment to " + name + ", which a value of the library has"
            elif name not in self.names.attributes and (name in REACHING or name in TESTERS):
                yield "assignment to " + name
            elif name not in self.names.attributes and name in library():
                yield "assignment to " + name + ", which is a name of the library's"
            return
        if name == "__class__":
            if not self.is_only_asked(node):
                yield "attribute " + name
            return
        called = isinstance(parent, ast.Call) and parent.func is node
        if name in FORMATS:
            if not (called and name != "vformat" and self.is_plain_format(node.value)):
                yield "computed format"
            return
        found = self.modules.get(node.value.id, ()) if isinstance(node.value, ast.Name) else ()
        if name == "wraps" and "functools" in found:
            yield from self.wraps(parent, called)
        if name == "compile" and found == {"re"} and all(isinstance(at, IMPORTS) for at, _ in self.other.get(node.value.id, ())):
            return
        if not all(name in public(module) for module in found):
            yield "attribute " + name
        else:
            yield from self.read_attribute(name, root(node))
        if name in self.names.parts and root(node) in self.own_modules and not isinstance(parent, ast.Attribute):
            yield "value " + name + ", which is a module"

    def is_plain_format(self, node):
        """Whether a text is written down, and has no field that reads more than what it is given."""
        text = self.text_of(node)
        return text is not None and not has_fields(text, r"[.\[]")

    def functions(self, node):
        """The functions that a node of the unit is in, the innermost first."""
        found = []
        while node is not None:
            node = self.parents.get(node)
            if isinstance(node, (*FUNCTIONS, ast.Lambda)):
                found.append(node)
        return found

    def text_of(self, node, depth=0):
        """The text that an expression is: written down, in parts, or in a variable that has no other value."""
        if isinstance(node, ast.Name) and depth < 20:
            assigned = self.constants.get(node.id)
            # A function's own, or of one around it: a variable of a module may be given another value from elsewhere.
            is_only = assigned is not None and self.bound[node.id] == 1
            if not is_only or not set(self.functions(assigned)[:1]) & set(self.functions(node)):
                return None
            return self.text_of(assigned.value, depth + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth < 20:
            left, right = self.text_of(node.left, depth + 1), self.text_of(node.right, depth + 1)
            return None if left is None or right is None else left + right
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None

    def read_attribute(self, name, start=None):
        """`start` is the name that a chain of attributes begins with: what a library has is the repository's nowhere."""
        names, elsewhere = self.names, start in self.library_bound or is_builtin(start, self.bound)
        if is_special(name):
            known = name in SPECIAL_ATTRIBUTES
        elif name in self.inside or name in FORMATS:
            known = False
        elif name in names.hidden:
            known = name in self.seen
        elif name in REACHING or name in TESTERS:
            known = not elsewhere and name in names.attributes and name not in names.reaching
        elif start in self.own_bound and (name in names.reaching or name in names.imported):
            known = False
        elif name in names.reaching:
            known = name in self.members
        elif elsewhere:
            known = name in self.members or name in self.seen
        else:
            known = name in self.members or name in names.attributes or name in self.seen or name in self.new
            known = known or start in self.own_bound and (name in names.globals or name in names.parts)
        if not known:
            yield "attribute " + name

    def call(self, node, parent):
        if isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            name = node.args[1] if len(node.args) > 1 and not isinstance(node.args[0], ast.Starred) else None
            if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
                yield "computed getattr"
            elif name.value in FORMATS:
                yield "computed format"
            else:
                yield from self.read_attribute(name.value, root(node.args[0]))

    def subscript(self, node, parent):
        if not isinstance(node.ctx, ast.Load) and root(node) in self.library_bound:
            yield "assignment to what is not the repository's"

    def class_pattern(self, node, parent):
        for name in node.kwd_attrs:
            if name in FORMATS:
                yield "computed format"
            yield from self.read_attribute(name)
        if node.patterns and not (isinstance(node.cls, ast.Name) and getattr(builtins, node.cls.id, None) in TYPES):
            yield "construct MatchClass by position"

    def class_(self, node, parent):
        if node.keywords:
            yield "construct metaclass"
        for base in node.bases:
            if not (isinstance(base, ast.Name) and self.is_base(base.id)):
                yield "construct class derived from " + (ast.unparse(base))[:80]

    def is_base(self, name):
        """Whether a name is that of a class of the repository, a new one of the file, or a harmless built-in one, and of nothing
        else."""
        found = getattr(builtins, name, None)
        if found is object or isinstance(found, type) and issubclass(found, BaseException):
            return not self.bound[name]
        if hasattr(builtins, name) or name in self.outside or name in self.modules and name not in self.own_bound:
            return False
        before = {kept(statement, node) for statement, node in self.was_other.get(name, ())}
        for statement, node in self.other.get(name, ()):
            own = isinstance(statement, IMPORTS) and is_own(statement, self.names) and name in self.names.classes
            if not own and kept(statement, node) not in before:
                return False
        return bool(self.bound[name])

    def import_(self, node, parent):
        if is_own(node, self.names) and ast.dump(node) in self.was_imported:
            return
        for alias in node.names:
            last = alias.name.rpartition(".")[2]
            if is_own(node, self.names):
                if not self.is_of_repository(node, alias.name) or last in INSIDE or last in self.names.reaching:
                    yield "import " + alias.name[:LONGEST_NAME]
                continue
            name = alias.name if isinstance(node, ast.Import) else node.module or ""
            if name not in PLAIN and (self.strict or name not in CLOCKS):
                yield "import " + name[:LONGEST_NAME]
            elif isinstance(node, ast.ImportFrom) and name != "__future__" and (last not in public(name) or last in REACHING | INSIDE):
                yield "import " + name + "." + last[:LONGEST_NAME]

    def is_of_repository(self, node, name):
        """Whether what is imported is a module of the repository's code, or a name that its code defines."""
        names = self.names
        if isinstance(node, ast.Import):
            return name in names.modules
        module = self.resolved(node)
        if module not in names.modules or name == "*" or module + "." + name in names.tests:
            return False
        if module + "." + name in names.modules:
            return True
        return is_special(name) and name in SPECIAL_NAMES or name in names.globals and name not in names.imported

    def constant(self, node, parent):
        if isinstance(node.value, (str, bytes)):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            if re.fullmatch(r"\s*__\w+__\s*", text) or re.search(r"[.{]\w*\.?__\w+__", text):
                yield "text " + text.strip()[:40]
        if isinstance(node.value, str) and node.value not in self.texts and has_fields(node.value, r"^\s*\w*\s*[.\[]"):
            yield "a format that reads attributes or items"


CHECKS = {
    "Name": Known.name,
    "Attribute": Known.attribute,
    "Subscript": Known.subscript,
    "Call": Known.call,
    "MatchClass": Known.class_pattern,
    "ClassDef": Known.class_,
    "Import": Known.import_,
    "ImportFrom": Known.import_,
    "Constant": Known.constant,
}


def root(node):
    """The name that a chain of attributes and items begins with; None where it begins with something else."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def is_builtin(name, bound):
    return name is not None and hasattr(builtins, name) and not bound[name]


def is_special(name):
    return name.startswith("__") and name.endswith("__")


def kept(statement, node):
    """What tells whether a name is bound as it was: all of a statement, or the head of one that holds others."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return type(statement).__name__ + " " + statement.name + " " + type(node).__name__
    inside = ("body", "orelse", "handlers", "finalbody", "cases")
    head = [ast.dump(part) for field, part in ast.iter_fields(statement) if field not in inside and isinstance(part, ast.AST)]
    return ast.dump(statement) if not hasattr(statement, "body") else " ".join([type(statement).__name__, type(node).__name__, *head])


def scoped(node, level):
    """(child, level) of each child of a node: what is bound in it is a name of the module, of a class or of a function."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return
    if isinstance(node, ast.Attribute):
        yield node.value, level
    elif isinstance(node, (*FUNCTIONS, ast.Lambda)):
        inner = node.body if isinstance(node.body, list) else [node.body]
        yield from ((child, FUNCTION) for child in inner)
        yield from ((child, level) for child in getattr(node, "decorator_list", []))
        yield from ((child, level) for child in getattr(node, "type_params", []))
        yield node.args, level
        if getattr(node, "returns", None) is not None:
            yield node.returns, level
    elif isinstance(node, ast.ClassDef):
        yield from ((child, CLASS) for child in node.body)
        heads = (node.bases, node.keywords, node.decorator_list, getattr(node, "type_params", []))
        yield from ((child, level) for part in heads for child in part)
    elif isinstance(node, ast.comprehension):
        yield node.target, FUNCTION
        yield from ((child, level) for child in (node.iter, *node.ifs))
    else:
        yield from ((child, FUNCTION if isinstance(child, ast.arg) else level) for child in ast.iter_child_nodes(node))


def nodes(tree, level):
    """(node, the statement it is part of, level) of all nodes."""
    left = [(tree, tree, level)]
    while left:
        node, statement, level = left.pop()
        if isinstance(node, EMPTY):
            continue
        if isinstance(node, ast.stmt):
            statement = node
        yield node, statement, level
        left.extend((child, statement, inner) for child, inner in scoped(node, level))


def owned(node, owner, level):
    """(node, the class it is in, level) of a node and all below it."""
    left = [(node, owner, level)]
    while left:
        node, owner, level = left.pop()
        if isinstance(node, EMPTY):
            continue
        yield node, owner, level
        inner = node.name if isinstance(node, ast.ClassDef) else owner
        left.extend((child, inner, at) for child, at in scoped(node, level))


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


def has_fields(text, pattern, depth=0):
    """Whether a text, taken as a format, has a field whose name matches, in whatever depth."""
    if "{" not in text:
        return False
    try:
        for _, field, spec, _ in string.Formatter().parse(text):
            if field is not None and re.search(pattern, field) or spec and depth < 3 and has_fields(spec, pattern, depth + 1):
                return True
    except ValueError:
        # No format at all.
        pass
    return False


def members(*kinds):
    return {name for kind in kinds for name in dir(kind) if not name.startswith("_")} - FORMATS


def can_change(value):
    """Whether attributes of a value of the library can be assigned to, so that the library does something else."""
    if isinstance(value, type):
        return not value.__flags__ & IMMUTABLE
    return not isinstance(value, (*TYPES, types.FunctionType, types.BuiltinFunctionType, types.NoneType))


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


@functools.cache
def public(module):
    """What a module of the library has that is no module and cannot be changed in its place, and what the classes of it have."""
    found = {name: value for name, value in vars(importlib.import_module(module)).items() if not name.startswith("_")}
    shared = (types.ModuleType, list, dict, set, bytearray)
    found = {name: value for name, value in found.items() if not isinstance(value, shared)}
    return set(found) | members(*(value for value in found.values() if isinstance(value, type)))
