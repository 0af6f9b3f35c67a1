# Recur deeply in C: `repr` of nested lists: the wasm stack, and an exception at its end.
# job: script

nested = []
for _ in range(100000):
    nested = [nested]
while True:
    try:
        repr(nested)
    except RecursionError:
        pass
