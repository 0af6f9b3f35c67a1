# Says of two programs whether they have one syntax tree, or the first has none.
import ast, json, sys


def tree(text):
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        return None


for line in sys.stdin:
    one, other = json.loads(line)
    print("same" if tree(one) in (None, tree(other)) else "other")
