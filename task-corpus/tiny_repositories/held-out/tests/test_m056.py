from tiny.m056 import f


def test_0():
    assert f([9, 1, 2]) == 3


def test_1():
    assert f([9, 0, 7, 0]) == 7


def test_2():
    assert f([6, 8, 1]) == 6


def test_3():
    assert f([2, 9, 1]) == 3


def test_4():
    assert f([7, 4, 0, 4]) == 6


def test_5():
    assert f([4, 0]) == 4


def test_6():
    assert f([5, 0]) == 5


def test_7():
    assert f([9, 4, 6, 8]) == 0
