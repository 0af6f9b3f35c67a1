from tiny.m192 import f


def test_0():
    assert f([1, 0, 6, 5]) == 5


def test_1():
    assert f([0, 7]) == 7


def test_2():
    assert f([5, 9, 5]) == 5


def test_3():
    assert f([0, 3, 8]) == 8


def test_4():
    assert f([2, 9]) == 9


def test_5():
    assert f([4, 9, 9]) == 9


def test_6():
    assert f([8, 7, 0, 4]) == 4


def test_7():
    assert f([0, 4]) == 4
