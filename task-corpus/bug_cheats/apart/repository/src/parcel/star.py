"""What tests import all of."""

__all__ = ["ascending", "number", "largest"]


def ascending(numbers):
    """Them in their order."""
    return sorted(numbers)


def number(text):
    """The number that a text is."""
    if not text.isdigit():
        raise ValueError("no number: " + text)
    return int(text)


def largest(numbers):
    """The largest of them."""
    return max(numbers)
