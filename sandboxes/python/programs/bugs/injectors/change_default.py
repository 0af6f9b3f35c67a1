"""The default of a parameter is another value."""


def change_default(source, scope, random):
    arguments = scope.args
    for default in arguments.defaults + [found for found in arguments.kw_defaults if found is not None]:
        if isinstance(default, ast.Constant):
            value = default.value
            if type(value) is bool:
                other = str(not value)
            elif type(value) in (int, float):
                other = repr(value + 1)
            elif value is None:
                other = "0"
            else:
                other = "None"
            yield [source.replace(default, other)]
