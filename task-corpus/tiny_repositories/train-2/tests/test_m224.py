from tiny.m224 import f


def test_0():
    assert f([1, 6, 4]) == 5


def test_1():
    assert f([3, 8, 6]) == 9


def test_2():
    assert f([5, 5]) == 10


def test_3():
    assert f([6, 2, 9, 7]) == 13


def test_4():
    assert f([6, 8, 1, 4]) == 10


def test_5():
    assert f([2, 3, 8]) == 10


def test_6():
    assert f([6, 4]) == 10


def test_7():
    assert f([6, 7]) == 13
