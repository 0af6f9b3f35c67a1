"""Sums."""


class Amount:
    """A number with a unit."""

    def __init__(self, number, unit):
        self.number = number
        self.unit = unit

    def __eq__(self, other):
        return isinstance(other, Amount) and (self.number, self.unit) == (other.number, other.unit)

    def __hash__(self):
        return 7


def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result


def mean(numbers):
    numbers = list(numbers)
    if not numbers:
        raise ValueError("nothing")
    return total(numbers) / len(numbers)
