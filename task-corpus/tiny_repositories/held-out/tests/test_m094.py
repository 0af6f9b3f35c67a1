from tiny.m094 import f


def test_0():
    assert f([4, 2, 3, 6]) == 7


def test_1():
    assert f([2, 5, 2, 8]) == 9


def test_2():
    assert f([5, 5, 1, 1]) == 6


def test_3():
    assert f([5, 1, 9, 4]) == 10


def test_4():
    assert f([6, 2, 5, 6]) == 7


def test_5():
    assert f([7, 0]) == 8


def test_6():
    assert f([4, 7]) == 8


def test_7():
    assert f([6, 4, 5]) == 7
