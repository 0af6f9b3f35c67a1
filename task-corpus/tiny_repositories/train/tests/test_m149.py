from tiny.m149 import f


def test_0():
    assert f([4, 2, 5]) == 15


def test_1():
    assert f([1, 0]) == 6


def test_2():
    assert f([0, 2, 9]) == 15


def test_3():
    assert f([3, 6]) == 9


def test_4():
    assert f([8, 4, 1]) == 21


def test_5():
    assert f([0, 2, 9, 3]) == 3


def test_6():
    assert f([2, 9, 0]) == 15


def test_7():
    assert f([2, 6, 0, 7]) == 6
