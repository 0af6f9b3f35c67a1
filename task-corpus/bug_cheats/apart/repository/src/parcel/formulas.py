"""Formulas."""

FORMULA = "1 + 2"
EXAMPLES = ["1 + 2", "2 + 3"]


def value_of(text):
    """The sum that a text is."""
    left, right = text.split(" + ")
    return int(left) + int(right)


def doubled(number):
    """Twice it."""
    return number * 2
