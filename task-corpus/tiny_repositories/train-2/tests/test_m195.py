from tiny.m195 import f


def test_0():
    assert f([1, 4, 4]) == 11


def test_1():
    assert f([5, 8]) == 15


def test_2():
    assert f([1, 0, 7, 1]) == 11


def test_3():
    assert f([6, 5]) == 13


def test_4():
    assert f([2, 3]) == 7


def test_5():
    assert f([2, 3, 9, 7]) == 23


def test_6():
    assert f([4, 1, 9]) == 16


def test_7():
    assert f([0, 6, 9, 5]) == 22
