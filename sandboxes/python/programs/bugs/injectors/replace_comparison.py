"""A comparison becomes any other of its kind."""


COMPARISONS = [("==", "!=", "<", "<=", ">", ">="), ("in", "not in"), ("is", "is not")]


def replace_comparison(source, scope, random):
    def choose(symbol):
        return random.choice([other for kind in COMPARISONS if symbol in kind for other in kind if other != symbol])

    return replaced(source, scope, (ast.Compare,), choose)
