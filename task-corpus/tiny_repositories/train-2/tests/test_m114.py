from tiny.m114 import f


def test_0():
    assert f([7, 4]) == -11


def test_1():
    assert f([4, 7, 2, 8]) == -5


def test_2():
    assert f([1, 6, 2]) == 1


def test_3():
    assert f([3, 6, 1]) == -3


def test_4():
    assert f([6, 1]) == -9


def test_5():
    assert f([6, 0]) == -9


def test_6():
    assert f([6, 8, 5]) == -9


def test_7():
    assert f([7, 5, 9, 3]) == -11
