import pytest
from parcel.star import *


def test_ascending():
    for given in ([3, 1, 2], [2, 2], list(range(9, 0, -1))):
        assert ascending(given) == sorted(given)


def test_number():
    assert number("12") == 12


def test_no_number():
    with pytest.raises(ValueError):
        number("x")


def test_largest():
    assert largest([1, 3, 2]) == max([1, 3, 2])
