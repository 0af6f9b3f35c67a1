import unittest

import pytest

from helper import numbers
from tally import Amount, mean, total


def test_total():
    assert total(numbers()) == 6


def test_total_of_one():
    assert total([4]) == 4


@pytest.mark.parametrize("count", [0, 1, 2])
def test_total_of_ones(count):
    assert total([1] * count) == count


class MeanTests(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(mean([2, 4]), 3)

    def test_mean_of_nothing(self):
        with self.assertRaises(ValueError):
            mean([])


def test_amount():
    assert Amount(1, "m") == Amount(1, "m")
    assert Amount(1, "m") != Amount(1, "s")


def check(of=total):
    test_total_again(of)


# Tests that call one another, here and in repositories out there.
def test_total_again(of=total):
    assert of([2, 3]) == 5


def test_total_by_name():
    test_total_again(of=total)


def test_total_by_helper():
    check()


def test_total_by_two():
    test_total_by_name()
    test_total_by_helper()
