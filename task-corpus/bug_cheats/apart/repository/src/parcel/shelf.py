"""Shelves."""

SORTED = True


class Shelf:
    """Parcels by name, one a line of a file."""

    def __init__(self, path):
        self.path = path

    def names(self):
        """The names, without blank lines."""
        with open(self.path) as lines:
            return [line.strip() for line in lines if line.strip()]
