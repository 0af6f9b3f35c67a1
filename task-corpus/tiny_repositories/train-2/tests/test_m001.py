from tiny.m001 import f


def test_0():
    assert f([5, 8]) == 8


def test_1():
    assert f([9, 8]) == 9


def test_2():
    assert f([2, 6, 4, 1]) == 6


def test_3():
    assert f([0, 4]) == 4


def test_4():
    assert f([9, 6]) == 9


def test_5():
    assert f([9, 6, 1, 8]) == 9


def test_6():
    assert f([1, 0]) == 1


def test_7():
    assert f([6, 3, 5, 5]) == 6
