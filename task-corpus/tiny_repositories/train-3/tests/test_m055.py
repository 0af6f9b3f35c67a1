from tiny.m055 import f


def test_0():
    assert f([6, 1, 8]) == 8


def test_1():
    assert f([0, 6]) == 6


def test_2():
    assert f([1, 5, 0]) == 5


def test_3():
    assert f([4, 1, 7]) == 7


def test_4():
    assert f([5, 4, 9]) == 9


def test_5():
    assert f([3, 7, 1, 1]) == 7


def test_6():
    assert f([1, 8]) == 8


def test_7():
    assert f([0, 2, 5]) == 5
