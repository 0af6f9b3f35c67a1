"""Functions of functions."""

__version__ = "1.0"


def compose(*functions):
    """The function that calls all of them, the last one first."""

    def composed(value):
        for function in reversed(functions):
            value = function(value)
        return value

    return composed
