"""Imports of the repository's own modules: from its layer, and from nowhere else.

The image has packages of its own, and the one under test may be among them. A patch that takes a module away must not have the
image's copy imported in its place.
"""


def _own_imports(own):
    """From here on each of the top-level modules `own` is imported from below /work or not at all."""
    import importlib.machinery
    import sys

    # What the interpreter itself has built in is nobody's to replace.
    own = frozenset(own) - (sys.stdlib_module_names & frozenset(sys.builtin_module_names))
    stdlib, find, error = sys.stdlib_module_names, importlib.machinery.PathFinder.find_spec, ModuleNotFoundError
    str_, list_, type_ = str, list, type

    def is_below(place):
        return type_(place) is str_ and (place == "/work" or place.startswith("/work/"))

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if path is not None or name not in own:
                return None
            spec = find(name, [place for place in sys.path if is_below(place)])
            if spec is None:
                raise error("No module named `" + name + "`", name=name)
            if spec.loader is None:
                # A directory without `__init__.py`: one that is called as a package of the library is that package.
                if name in stdlib:
                    return None
                # A plain list: the search path has no say in it later.
                spec.submodule_search_locations = [place for place in list_(spec.submodule_search_locations) if is_below(place)]
            return spec

    # A warm start may have imported some for the tests' sake. What pytest itself is made of stays.
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        place = getattr(module, "__file__", None)
        if top in own - stdlib and not (type(place) is str and place.startswith(("/opt/lib/", "/work/"))):
            del sys.modules[name]
    sys.meta_path.insert(0, Finder)


