from tiny.m034 import f


def test_0():
    assert f([4, 0]) == 8


def test_1():
    assert f([7, 7]) == 4


def test_2():
    assert f([4, 3]) == 5


def test_3():
    assert f([5, 4]) == 5


def test_4():
    assert f([8, 1, 8]) == 11


def test_5():
    assert f([6, 8, 6]) == 6


def test_6():
    assert f([9, 8, 0]) == 13


def test_7():
    assert f([9, 5, 4]) == 9
