"""Compiles the trusted sources by the image's own interpreter. Nothing untrusted runs here."""

import binascii
import marshal
import zlib


def compiled(desk, environment, runner):
    """Returns desk and environment as bytecode, the same as text for a program's literal, and the runner's bytecode."""
    sources = ((desk, "<desk>"), (environment, "<environment>"))
    opened = marshal.dumps(tuple(compile(source, name, "exec", 0, True) for source, name in sources))
    runner = marshal.dumps(compile(runner, "<runner>", "exec", 0, True))
    return opened, binascii.b2a_base64(zlib.compress(opened), newline=False).decode(), runner
