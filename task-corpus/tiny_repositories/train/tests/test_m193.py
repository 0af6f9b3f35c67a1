from tiny.m193 import f


def test_0():
    assert f([6, 0, 6, 7]) == 11


def test_1():
    assert f([9, 5, 1, 1]) == 14


def test_2():
    assert f([8, 5]) == 13


def test_3():
    assert f([3, 2, 2, 4]) == 8


def test_4():
    assert f([3, 4]) == 8


def test_5():
    assert f([0, 6, 2]) == 5


def test_6():
    assert f([2, 4, 9, 7]) == 7


def test_7():
    assert f([5, 9, 1, 3]) == 10
