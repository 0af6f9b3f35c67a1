from tiny.m168 import f


def test_0():
    assert f([5, 1, 8, 5]) == 22


def test_1():
    assert f([5, 5]) == 13


def test_2():
    assert f([9, 9, 2, 2]) == 25


def test_3():
    assert f([1, 1]) == 5


def test_4():
    assert f([5, 4, 7, 0]) == 19


def test_5():
    assert f([2, 2, 0]) == 7


def test_6():
    assert f([2, 1]) == 6


def test_7():
    assert f([7, 3, 7, 4]) == 24
