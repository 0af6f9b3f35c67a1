"""What jobs that run tests find done: pytest imported, and the repository's sources compiled. None of them is executed here."""


def _warm():
    import importlib.machinery
    import os

    compiled = getattr(importlib.machinery.SourceFileLoader, "_veriplay_compiled", None)
    if compiled is None:
        compiled = {}
        compile_now = importlib.machinery.SourceFileLoader.source_to_code

        def source_to_code(self, data, path, *args, **kwargs):
            known = compiled.get((path, data)) if type(data) is bytes and not args and not kwargs else None
            return compile_now(self, data, path, *args, **kwargs) if known is None else known

        importlib.machinery.SourceFileLoader._veriplay_compiled = compiled
        importlib.machinery.SourceFileLoader.source_to_code = source_to_code
        _ready()
    for directory, _, names in os.walk("/work"):
        for path in (os.path.join(directory, name) for name in sorted(names) if name.endswith(".py")):
            with open(path, "rb") as file:
                data = file.read()
            try:
                compiled[path, data] = compile(data, path, "exec", dont_inherit=True, optimize=-1)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                # It will be told when a test imports it.
                pass


_warm()
# Room, so that ordinary tests need not grow the memory: an instance that grew is thrown away.
_room = bytearray(32 << 20)
del _room
