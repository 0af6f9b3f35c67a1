"""One side of a parcel."""


def width(size):
    """Twice it."""
    return size * 2
