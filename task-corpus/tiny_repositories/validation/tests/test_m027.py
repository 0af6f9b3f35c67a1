from tiny.m027 import f


def test_0():
    assert f([7, 2, 2, 7]) == 9


def test_1():
    assert f([2, 5, 3]) == 7


def test_2():
    assert f([5, 4]) == 6


def test_3():
    assert f([3, 8, 7]) == 10


def test_4():
    assert f([4, 7, 1, 8]) == 10


def test_5():
    assert f([9, 2]) == 4


def test_6():
    assert f([4, 5, 6, 5]) == 8


def test_7():
    assert f([2, 5, 6, 1]) == 8
