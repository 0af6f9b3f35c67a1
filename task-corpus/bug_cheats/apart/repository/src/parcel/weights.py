"""Weights, in grams."""

import os
from functools import cache

TABLE = os.path.join(os.path.dirname(__file__), "units.txt")


def in_grams(number, unit):
    """`number` of `unit`, by the table beside this module."""
    with open(TABLE) as lines:
        for line in lines:
            name, grams = line.split()
            if name == unit:
                return number * int(grams)
    raise ValueError("no unit " + unit)


@cache
def powers():
    """Prefixes of units."""
    return {"deca": 1, "kilo": 3}


def scaled(number, prefix):
    """`number` with that prefix, without it."""
    return number * 10 ** powers()[prefix]


def heaviest(weights):
    """The largest of them."""
    return max(weights)


def lightest(weights):
    """The smallest of them."""
    return min(weights)
