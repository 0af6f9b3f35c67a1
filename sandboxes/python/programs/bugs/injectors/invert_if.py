"""The two branches of an if change places."""


def invert_if(source, scope, random):
    for node in inside(scope, ast.If):
        if node.orelse and not is_elif(source, node.orelse[0]):
            one = (source.start(node.body[0]), source.end(node.body[-1]))
            other = (source.start(node.orelse[0]), source.end(node.orelse[-1]))
            yield [(*one, source.slice(*other)), (*other, source.slice(*one))]
