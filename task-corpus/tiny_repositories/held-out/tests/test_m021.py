from tiny.m021 import f


def test_0():
    assert f([6, 2]) == -4


def test_1():
    assert f([8, 4, 6]) == -2


def test_2():
    assert f([0, 4, 7]) == -10


def test_3():
    assert f([6, 4]) == -4


def test_4():
    assert f([7, 1]) == -3


def test_5():
    assert f([3, 1, 6]) == -7


def test_6():
    assert f([5, 0, 8, 9]) == -5


def test_7():
    assert f([0, 9, 8]) == -10
