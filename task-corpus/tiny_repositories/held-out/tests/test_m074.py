from tiny.m074 import f


def test_0():
    assert f([8, 8, 4]) == 25


def test_1():
    assert f([1, 9, 4]) == 19


def test_2():
    assert f([9, 7, 9]) == 25


def test_3():
    assert f([5, 6, 9]) == 20


def test_4():
    assert f([0, 4, 4]) == 13


def test_5():
    assert f([2, 9]) == 20


def test_6():
    assert f([1, 6, 2, 9]) == 16


def test_7():
    assert f([9, 0]) == 18
