from tiny.m119 import f


def test_0():
    assert f([0, 5, 2, 1]) == 3


def test_1():
    assert f([1, 7, 6]) == 13


def test_2():
    assert f([4, 9, 0, 9]) == 9


def test_3():
    assert f([3, 0, 8, 7]) == 15


def test_4():
    assert f([2, 7, 5, 5]) == 10


def test_5():
    assert f([6, 0, 5]) == 5


def test_6():
    assert f([4, 2]) == 6


def test_7():
    assert f([7, 2]) == 9
