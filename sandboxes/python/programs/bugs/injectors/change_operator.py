"""An arithmetic or bit operator becomes another of its family."""


FAMILIES = [("+", "-"), ("*", "/", "//", "%"), ("&", "|", "^"), ("<<", ">>"), ("**", "*")]


def change_operator(source, scope, random):
    def choose(symbol):
        others = [other for family in FAMILIES if symbol in family for other in family if other != symbol]
        return random.choice(others) if others else None

    return replaced(source, scope, (ast.BinOp,), choose)
