"""An operation on an operation loses its inner operand: (a + b) + c becomes a + c."""


def break_chain(source, scope, random):
    for node in inside(scope, ast.BinOp):
        if isinstance(node.left, ast.BinOp):
            kept = node.left.left if random.random() < 0.5 else node.left.right
            yield [source.replace(node.left, source.segment(kept))]
        elif isinstance(node.right, ast.BinOp):
            kept = node.right.left if random.random() < 0.5 else node.right.right
            yield [source.replace(node.right, source.segment(kept))]
