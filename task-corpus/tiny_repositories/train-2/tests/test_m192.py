from tiny.m192 import f


def test_0():
    assert f([8, 8]) == 12


def test_1():
    assert f([0, 3, 8]) == 4


def test_2():
    assert f([1, 8, 3]) == 5


def test_3():
    assert f([5, 7]) == 8


def test_4():
    assert f([1, 1, 0]) == -3


def test_5():
    assert f([8, 1]) == 5


def test_6():
    assert f([5, 8]) == 9


def test_7():
    assert f([6, 0, 4]) == 2
