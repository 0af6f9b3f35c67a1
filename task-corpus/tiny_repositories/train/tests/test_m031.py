from tiny.m031 import f


def test_0():
    assert f([1, 1, 0, 0]) == 3


def test_1():
    assert f([5, 1, 6]) == 15


def test_2():
    assert f([3, 8]) == 9


def test_3():
    assert f([6, 5, 0]) == 18


def test_4():
    assert f([7, 3, 6]) == 21


def test_5():
    assert f([0, 7, 1]) == 0


def test_6():
    assert f([3, 1, 6]) == 9


def test_7():
    assert f([5, 0, 8, 9]) == 15
