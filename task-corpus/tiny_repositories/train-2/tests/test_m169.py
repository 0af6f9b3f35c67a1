from tiny.m169 import f


def test_0():
    assert f([1, 5]) == 1


def test_1():
    assert f([7, 6, 6, 9]) == 9


def test_2():
    assert f([7, 9]) == 7


def test_3():
    assert f([9, 6, 5, 5]) == 11


def test_4():
    assert f([5, 9]) == 5


def test_5():
    assert f([6, 3]) == 6


def test_6():
    assert f([1, 3, 5, 8]) == 3


def test_7():
    assert f([6, 5, 8]) == 6
