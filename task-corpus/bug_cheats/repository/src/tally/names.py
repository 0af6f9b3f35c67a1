"""Labels."""

import random


def label(unit, count):
    if count == 1:
        return unit
    return unit + "s"


def coin():
    return random.random() < 0.5
