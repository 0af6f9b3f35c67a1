# Writes the `repr` of each literal, and its `ascii` where Python keeps the order of what it holds.
import ast, json, sys

for line in sys.stdin:
    value = ast.literal_eval(json.loads(line))
    plain = "" if isinstance(value, (set, dict, list, tuple)) else ascii(value)
    print(json.dumps([repr(value), plain]))
