# Read a large literal: `ast.literal_eval` makes a tree first.
# job: script

import ast
text = repr([(n, str(n), {n: n}) for n in range(5000)])
while True:
    ast.literal_eval(text)
