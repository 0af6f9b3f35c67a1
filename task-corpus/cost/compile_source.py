# Compile a large source: `compile()` of thousands of lines: parser, symbol table, optimiser.
# job: script

source = "\n".join(f"x{n} = [{n}, 'a' + 'b', (1, 2, 3)]\ndef f{n}(a, b=1): return a + b * {n}" for n in range(1000))
while True:
    compile(source, "s", "exec")
