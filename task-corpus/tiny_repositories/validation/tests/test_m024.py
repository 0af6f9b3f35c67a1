from tiny.m024 import f


def test_0():
    assert f([0, 2, 7, 2]) == -8


def test_1():
    assert f([4, 8, 0, 7]) == -9


def test_2():
    assert f([8, 9, 2, 7]) == -10


def test_3():
    assert f([0, 1, 2]) == -3


def test_4():
    assert f([7, 6]) == -8


def test_5():
    assert f([5, 2, 5]) == -6


def test_6():
    assert f([0, 1, 8, 8]) == -9


def test_7():
    assert f([6, 4, 1, 8]) == -9
