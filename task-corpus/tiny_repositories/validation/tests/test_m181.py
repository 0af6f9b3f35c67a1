from tiny.m181 import f


def test_0():
    assert f([8, 1, 9, 4]) == 13


def test_1():
    assert f([8, 7, 9]) == 15


def test_2():
    assert f([3, 4, 9, 0]) == 7


def test_3():
    assert f([6, 3]) == 0


def test_4():
    assert f([2, 0]) == 7


def test_5():
    assert f([5, 4, 4, 7]) == 11


def test_6():
    assert f([2, 1, 7, 7]) == 8


def test_7():
    assert f([1, 6]) == 2
