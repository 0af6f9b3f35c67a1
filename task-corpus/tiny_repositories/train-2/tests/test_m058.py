from tiny.m058 import f


def test_0():
    assert f([8, 9, 1]) == 21


def test_1():
    assert f([8, 2]) == 13


def test_2():
    assert f([7, 3, 9, 2]) == 24


def test_3():
    assert f([1, 1]) == 5


def test_4():
    assert f([8, 9, 5]) == 25


def test_5():
    assert f([2, 7]) == 12


def test_6():
    assert f([2, 5, 1]) == 11


def test_7():
    assert f([0, 1, 0]) == 4
