# Writes the `repr` of each literal, or why it is none.
import ast, json, sys

for line in sys.stdin:
    try:
        print(json.dumps(repr(ast.literal_eval(json.loads(line)))))
    except Exception as error:
        print(json.dumps("!" + repr(error)))
