from tiny.m159 import f


def test_0():
    assert f([7, 0]) == 3


def test_1():
    assert f([9, 1, 1]) == 7


def test_2():
    assert f([9, 9, 1, 9]) == 24


def test_3():
    assert f([4, 9]) == 9


def test_4():
    assert f([3, 4, 5]) == 8


def test_5():
    assert f([7, 4, 6]) == 13


def test_6():
    assert f([5, 2, 7]) == 10


def test_7():
    assert f([5, 9, 5, 2]) == 17
