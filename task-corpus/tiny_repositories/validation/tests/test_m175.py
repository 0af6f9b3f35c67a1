from tiny.m175 import f


def test_0():
    assert f([5, 0, 9]) == 28


def test_1():
    assert f([4, 4, 0]) == 16


def test_2():
    assert f([3, 7]) == 20


def test_3():
    assert f([6, 8, 0]) == 28


def test_4():
    assert f([4, 0, 0]) == 8


def test_5():
    assert f([2, 1]) == 6


def test_6():
    assert f([6, 1, 7, 2]) == 32


def test_7():
    assert f([7, 7]) == 28
