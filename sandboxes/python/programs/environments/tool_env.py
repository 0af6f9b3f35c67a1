"""The trusted side: an environment behind a desk. Nothing of an executor or a challenger runs here but plain values.

`_open` returns what may be asked of it. The callee of an executor's job keeps `call` and `tools` and deletes the rest: every
name of a callee's namespace can be called from the other side.
"""


def _open(code, history):
    import copy
    import inspect
    import sys
    import types
    import typing

    class Broken(BaseException):
        """An invariant does not hold: the environment is wrong."""

    def fits(value, wanted):
        """Whether `value` is of the type that a tool's parameter is declared with; a bool is no int."""
        if isinstance(wanted, types.UnionType):
            return any(fits(value, one) for one in typing.get_args(wanted))
        if wanted is None or wanted is types.NoneType:
            return value is None
        origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
        if origin is list:
            return type(value) is list and all(fits(item, inner[0]) for item in value)
        if origin is dict:
            return type(value) is dict and all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
        return type(value) is wanted

    def checked():
        try:
            module.check()
        except Exception as error:
            raise Broken(f"{type(error).__name__}: {error}") from None

    def call(name, arguments, keywords):
        if type(name) is not str or name not in signatures:
            raise NameError(f"there is no tool {name!r}")
        tool, signature = signatures[name]
        bound = signature.bind(*arguments, **keywords)
        for parameter, value in bound.arguments.items():
            wanted = signature.parameters[parameter].annotation
            if not fits(value, wanted):
                wanted = getattr(wanted, "__name__", wanted) if isinstance(wanted, type) else wanted
                raise TypeError(f"`{parameter}` of {name} must be {wanted}, not {type(value).__name__}")
        try:
            return tool(*bound.args, **bound.kwargs)
        finally:
            checked()

    def tools():
        """Name, signature and documentation of each tool, in order."""
        return [(name, f"{name}{signature}", inspect.getdoc(tool)) for name, (tool, signature) in signatures.items()]

    def replay(calls):
        """Makes the calls; returns the state before and after them. What a tool refuses changes nothing."""
        for name, arguments, keywords in calls:
            try:
                call(name, arguments, keywords)
            except Exception:
                pass
        return before, copy.deepcopy(module.dump())

    def about():
        return inspect.getdoc(module) or ""

    module = sys.modules["environment"] = types.ModuleType("environment")
    exec(code, module.__dict__)
    signatures = {tool.__name__: (tool, inspect.signature(tool)) for tool in module.TOOLS}
    checked()
    before = copy.deepcopy(module.dump())
    replay(history)
    return call, tools, replay, about
