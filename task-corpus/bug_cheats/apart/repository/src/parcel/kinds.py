"""Kinds of parcels. What their classes are made of is noted as they are made."""

ASKS = {}


class Noted(type):
    """A class of kinds."""

    def __new__(cls, name, bases, namespace):
        ASKS[name] = "__classcell__" in namespace
        return super().__new__(cls, name, bases, namespace)


class Box(metaclass=Noted):
    """A box."""

    def described(self):
        """What it is. No test asks for it."""
        return "a box"


def asks_for_its_class(name):
    """Whether a method of that kind asks for the class that it stands in."""
    return ASKS[name]
