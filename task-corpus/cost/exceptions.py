# Raise and catch: native unwinding: wasm exceptions go through the host's unwinder.
# job: script

def f():
    raise ValueError
while True:
    try:
        f()
    except ValueError:
        pass
