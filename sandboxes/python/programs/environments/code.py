"""The untrusted side: runs an executor's code with proxies of the tools. The environment is the job's callee.

What `run` returns is the word of the code itself, which shares this instance and may have rewritten everything here. It can
name calls it did not make; the host makes the calls that are named in a fresh environment, so naming is making.
"""

import builtins
import sys

import _veriplay

SCALARS = (type(None), bool, int, float, str, bytes)


def plain(value):
    """A copy of a plain value, with Python's numbers for numpy's. Raises `TypeError` for any other."""
    kind = type(value)
    if kind is dict:
        return {plain(key): plain(item) for key, item in value.items()}
    if kind in (list, tuple, set, frozenset):
        return kind(map(plain, value))
    numpy = sys.modules.get("numpy")
    if numpy is not None and kind.__module__ == "numpy" and isinstance(value, (numpy.number, numpy.bool_)):
        value = value.item()
    if type(value) not in SCALARS:
        raise TypeError(f"a value of type {kind.__name__}")
    return value


def ask(name, *arguments):
    return _veriplay.ask_callee(("call", name, list(arguments), {}))


def exception(kind, message):
    """The built-in exception of that name, which is all that a tool raises."""
    found = getattr(builtins, kind, None)
    if isinstance(found, type) and issubclass(found, Exception):
        try:
            return found(message)
        except TypeError:
            pass  # some take other arguments, as UnicodeDecodeError does
    return RuntimeError(kind + ": " + message)


def run(code):
    """Returns (calls, (the answer,) or None, None or (phase, text) of what ended the code)."""
    calls, given = [], []

    def tool_of(name, documentation):
        def tool(*arguments, **keywords):
            try:
                made = name, plain(list(arguments)), plain(keywords)
            except TypeError as error:
                known = "None, numbers, texts, and lists, tuples, sets and dicts of them"
                raise TypeError(f"arguments of {name} are plain values: {known}; found {error}") from None
            try:
                value = ask("call", *made)
            except _veriplay.CalleeError as error:
                calls.append(made)
                raise exception(*error.args) from None
            calls.append(made)
            return value

        tool.__name__ = tool.__qualname__ = name
        tool.__doc__ = documentation
        return tool

    def answer(value):
        try:
            given[:] = [plain(value)]
        except TypeError as error:
            known = "None, a bool, an int, a float, a str, bytes, or a list, tuple, set or dict of them"
            raise TypeError(f"an answer is {known}; found {error}") from None

    names = {"__name__": "__main__", "answer": answer}
    names.update((name, tool_of(name, f"{signature}\n\n{text}")) for name, signature, text in ask("tools"))
    try:
        compiled = compile(code, "<code>", "exec", 0, True)
    except BaseException as error:
        return calls, None, ("compile", text_of(error))
    try:
        exec(compiled, names)
    except BaseException as error:
        return calls, tuple(given) or None, ("raised", text_of(error))
    return calls, tuple(given) or None, None


def text_of(error):
    """`ValueError: … (line 3)`, of the line of the code that was under way."""
    line, frame = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == "<code>":
            line = frame.tb_lineno
        frame = frame.tb_next
    where = f" (line {line})" if line else ""
    message = error.args[0] if len(error.args) == 1 and type(error.args[0]) is str else error
    return f"{type(error).__name__}: {message}{where}"[:1000]
