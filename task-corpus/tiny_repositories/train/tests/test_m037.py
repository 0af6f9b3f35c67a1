from tiny.m037 import f


def test_0():
    assert f([2, 7]) == 19


def test_1():
    assert f([7, 3]) == 15


def test_2():
    assert f([0, 4, 8, 8]) == 32


def test_3():
    assert f([3, 3, 4, 8]) == 27


def test_4():
    assert f([4, 3, 1]) == 16


def test_5():
    assert f([6, 5, 4]) == 21


def test_6():
    assert f([2, 7, 6, 0]) == 25


def test_7():
    assert f([9, 8, 4, 9]) == 33
