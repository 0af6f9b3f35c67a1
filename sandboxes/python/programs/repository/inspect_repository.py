"""Reads what a repository says of itself: pytest's configuration, what it requires, what its tests import. Nothing of it is run.

`ask("repository", tests)` reads the files in /work; `ask("requirements", metadata, extras)` the metadata of a wheel;
`ask("meets", version, specifiers)` compares versions. Python's own parsers and pytest's `packaging` read, and markers are
evaluated for the interpreter that will run the tests: this one.
"""


def _inspector():
    import ast
    import configparser
    import email.parser
    import importlib.util
    import os
    import re
    import shlex
    import sys
    import tomllib

    sys.modules.pop("pytest", None)
    sys.modules["matplotlib"] = None  # as `_ready` says
    sys.path.insert(0, "/opt/lib")
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.utils import canonicalize_name

    test_groups = {"test", "tests", "testing", "dev", "develop", "development", "developer", "check", "all"}

    def ask(what, *arguments):
        return {"repository": repository, "requirements": requirements, "meets": meets}[what](*arguments)

    # Requirements

    def requirements(metadata, extras):
        """Those that hold here, as `(name, extras, specifiers, whether it is here already)`."""
        lines = email.parser.HeaderParser().parsestr(metadata).get_all("Requires-Dist") or []
        found = (parsed(line, extras) for line in lines)
        return [row for row in found if row]

    def parsed(line, extras=()):
        """A row of `requirements`, or None where a marker says that it is not for here, or it is none."""
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            return None
        if requirement.url:
            return None
        marker = requirement.marker
        if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            return None
        name = canonicalize_name(requirement.name)
        return (name, sorted(requirement.extras), str(requirement.specifier), is_here(name.replace("-", "_")))

    def meets(version, specifiers):
        try:
            return SpecifierSet(specifiers).contains(version, prereleases=True)
        except InvalidSpecifier:
            return False

    # Files

    def text(path):
        try:
            with open(os.path.join("/work", path), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return None

    def toml(path):
        try:
            return tomllib.loads(text(path) or "")
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}

    def ini(path):
        parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
        try:
            parser.read_string(text(path) or "")
        except configparser.Error:
            pass
        return {name: dict(parser[name]) for name in parser.sections()}

    def at(tree, *keys):
        """The table at the end of these keys; an empty one where there is none."""
        for key in keys:
            tree = tree.get(key, {}) if isinstance(tree, dict) else {}
        return tree if isinstance(tree, dict) else {}

    # pytest's configuration

    def configuration():
        """The options of the first file that pytest would read, and its name."""
        for name in ("pytest.toml", ".pytest.toml"):
            if text(name) is not None:
                return name, at(toml(name), "pytest")
        for name in ("pytest.ini", ".pytest.ini"):
            if text(name) is not None:
                return name, ini(name).get("pytest", {})
        tool = at(toml("pyproject.toml"), "tool", "pytest")
        if tool:
            return "pyproject.toml", at(tool, "ini_options") if "ini_options" in tool else tool
        for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
            sections = ini(name)
            if section in sections:
                return name, sections[section]
        return "", {}

    def words(value):
        if isinstance(value, list):
            return [word for word in value if isinstance(word, str)]
        try:
            return shlex.split(value, comments=True) if isinstance(value, str) else []
        except ValueError:
            return value.split()

    def truth(value):
        return value is True or (isinstance(value, str) and value.strip().lower() in ("1", "true", "yes", "on"))

    def mode_of(options):
        for at, option in enumerate(options):
            name, _, value = option.partition("=")
            if name == "--import-mode":
                return value or (options[at + 1] if at + 1 < len(options) else "")
        return ""

    def notes_on(name, options):
        """What of the configuration is not used, and would change what the tests come to."""
        asked = [word for word in words(options.get("addopts")) if word.startswith("-") and not harmless(word)]
        if asked:
            yield f"options of `{name}` that are not used: {' '.join(asked)}"
        for key in ("required_plugins", "usefixtures", "asyncio_mode", "DJANGO_SETTINGS_MODULE", "timeout"):
            if options.get(key):
                yield f"`{key}` of `{name}` is not used"

    def harmless(option):
        """Whether leaving it out changes only what is printed."""
        return option.startswith(("-r", "-v", "-q", "--strict", "--tb", "--color", "--durations", "--import-mode", "--showlocals", "-l"))

    # What is required

    def sources():
        """`(kind, where, line)`: `runtime` for the package itself, `test` for its tests, `other` for other extras."""
        for path in ("PKG-INFO", *egg_infos("PKG-INFO")):
            lines = email.parser.HeaderParser().parsestr(text(path) or "").get_all("Requires-Dist") or []
            for line in lines:
                extras = extras_of(line)
                yield group_kind(extras[0]) if extras else "runtime", path, line
            if lines:
                break
        for path in egg_infos("requires.txt"):
            yield from of_egg_info(path)
        yield from of_pyproject()
        yield from of_setup_cfg()
        yield from of_tox()
        yield from of_requirements_files()

    def egg_infos(name):
        for folder in ("/work", "/work/src"):
            if os.path.isdir(folder):
                for entry in sorted(os.listdir(folder)):
                    path = os.path.join(folder, entry, name)
                    if entry.endswith(".egg-info") and os.path.isfile(path):
                        yield path.removeprefix("/work/")

    def extras_of(line):
        return re.findall(r"""\bextra\s*==\s*['"]([^'"]+)['"]""", line)

    def group_kind(name):
        parts = set(re.split(r"[-_.]", name.lower()))
        return "test" if parts & test_groups else "other"

    def of_egg_info(path):
        kind, marker = "runtime", ""
        for line in (text(path) or "").splitlines():
            line = line.strip()
            section = re.fullmatch(r"\[([^:\]]*)(?::(.*))?\]", line)
            if section:
                kind = group_kind(section[1]) if section[1] else "runtime"
                marker = f" ; {section[2]}" if section[2] else ""
            elif line:
                yield kind, path, line + marker

    def of_pyproject():
        tree = toml("pyproject.toml")
        path = "pyproject.toml"
        for line in strings(at(tree, "project").get("dependencies")):
            yield "runtime", path, line
        for group, lines in at(tree, "project", "optional-dependencies").items():
            for line in strings(lines):
                yield group_kind(group), path, line
        groups = at(tree, "dependency-groups")
        for group in groups:
            for line in in_group(groups, group, set()):
                yield group_kind(group), path, line
        for group, lines in at(tree, "tool", "pdm", "dev-dependencies").items():
            for line in strings(lines):
                yield "test", path, line
        for line in strings(at(tree, "tool", "uv").get("dev-dependencies")):
            yield "test", path, line
        for environment in at(tree, "tool", "hatch", "envs").values():
            for key in ("dependencies", "extra-dependencies"):
                for line in strings(at({"": environment}, "").get(key)):
                    yield "test", path, line
        poetry = at(tree, "tool", "poetry")
        tables = [at(poetry, "dev-dependencies")]
        tables += [at({"": group}, "", "dependencies") for group in at(poetry, "group").values()]
        for table in tables:
            # Poetry's own signs for versions are no others': the newest is taken.
            for name in table:
                yield "test", path, name

    def strings(lines):
        return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []

    def in_group(groups, name, seen):
        if name in seen or not isinstance(groups.get(name), list):
            return
        seen.add(name)
        for line in groups[name]:
            if isinstance(line, str):
                yield line
            elif isinstance(line, dict) and isinstance(line.get("include-group"), str):
                yield from in_group(groups, line["include-group"], seen)

    def of_setup_cfg():
        sections = ini("setup.cfg")
        options = sections.get("options", {})
        for kind, value in (("runtime", options.get("install_requires")), ("test", options.get("tests_require"))):
            for line in (value or "").splitlines():
                yield kind, "setup.cfg", line
        for extra, value in sections.get("options.extras_require", {}).items():
            for line in (value or "").splitlines():
                yield group_kind(extra), "setup.cfg", line

    def of_tox():
        for name, section in ini("tox.ini").items():
            if name.startswith("testenv"):
                for line in (section.get("deps") or "").splitlines():
                    factor, colon, rest = line.partition(":")
                    yield "test", "tox.ini", rest if colon and "=" not in factor else line

    def of_requirements_files():
        for path in files_below("", 2):
            folder, name = os.path.split(path.lower())
            named = "requirement" in name or folder.startswith("requirement")
            if named and name.endswith((".txt", ".in")) and re.search("test|dev", path.lower()):
                for line in (text(path) or "").splitlines():
                    yield "test", path, line.split(" #")[0].split(" --hash")[0].rstrip("\\ ")

    def files_below(folder, depth):
        try:
            names = sorted(os.listdir(os.path.join("/work", folder)))
        except OSError:
            return
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(os.path.join("/work", path)):
                yield path
            elif depth > 1 and not name.startswith("."):
                yield from files_below(path, depth - 1)

    # What tests import

    def imports(tests):
        """Modules that test files, and the files beside them, import from elsewhere: those nobody has, by the top level, and
        those of the image's library that are not Python's own."""
        folders = {os.path.dirname(path) for path in tests} - {""}
        paths = set(tests)
        for folder in folders:
            names = os.listdir(os.path.join("/work", folder)) if os.path.isdir(os.path.join("/work", folder)) else []
            paths.update(os.path.join(folder, name) for name in names if name.endswith(".py"))
        while folders:
            folder = folders.pop()
            paths.add(os.path.join(folder, "conftest.py"))
            if folder:
                folders.add(os.path.dirname(folder))
        found = set()
        for path in paths:
            try:
                tree = ast.parse(text(path) or "")
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            found.update(imported(tree))
        own = {name.removesuffix(".py") for folder in {"", "src", *map(os.path.dirname, paths)} for name in listed(folder)}
        elsewhere = [name for name in sorted(found) if name.split(".")[0] not in own]
        missing = {name.split(".")[0] for name in elsewhere if not is_here(name.split(".")[0])}
        return sorted(missing), [name for name in elsewhere if is_of_the_library(name)]

    def listed(folder):
        try:
            return os.listdir(os.path.join("/work", folder))
        except OSError:
            return []

    def imported(tree):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                yield node.module
            elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
                called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                first = node.args[0] if node.args else None
                if called in ("importorskip", "import_module") and isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value

    def is_of_the_library(name):
        top = name.split(".")[0]
        if top in sys.stdlib_module_names or not is_here(top):
            return False
        spec = importlib.util.find_spec(top)
        return (spec.origin or "").startswith("/usr/local/lib/")

    def is_here(name):
        """Whether the interpreter, or the layer of pytest, has the module."""
        if name in sys.stdlib_module_names or name in ("pytest", "_pytest"):
            return True
        try:
            return importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):
            return False

    def repository(tests):
        name, options = configuration()
        missing, library = imports(tests)
        addopts = words(options.get("addopts"))
        required, seen = [], set()
        for kind, where, line in sources():
            row = parsed(line.strip(), extras_of(line))
            if row and (kind, str(row)) not in seen:
                seen.add((kind, str(row)))
                required.append((kind, where, *row))
        return {
            "testpaths": words(options.get("testpaths")),
            "pythonpath": words(options.get("pythonpath")),
            "python_files": words(options.get("python_files")),
            "python_classes": words(options.get("python_classes")),
            "python_functions": words(options.get("python_functions")),
            "xfail_strict": truth(options.get("xfail_strict")),
            "import_mode": mode_of(addopts),
            "required": required,
            "imports": missing,
            "library": library,
            "notes": list(notes_on(name, options)),
        }

    return ask


ask = _inspector()
del _inspector
