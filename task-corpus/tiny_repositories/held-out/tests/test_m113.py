from tiny.m113 import f


def test_0():
    assert f([0, 7, 8]) == 12


def test_1():
    assert f([9, 2]) == 14


def test_2():
    assert f([1, 8, 5]) == 13


def test_3():
    assert f([3, 4, 2, 4]) == 15


def test_4():
    assert f([2, 2, 6, 2]) == 14


def test_5():
    assert f([5, 0, 6, 5]) == 12


def test_6():
    assert f([5, 5, 0, 8]) == 12


def test_7():
    assert f([3, 4]) == 15
