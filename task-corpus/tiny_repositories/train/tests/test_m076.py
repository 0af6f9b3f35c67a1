from tiny.m076 import f


def test_0():
    assert f([1, 4, 6, 2]) == 2


def test_1():
    assert f([2, 4, 8]) == 8


def test_2():
    assert f([5, 9, 4]) == 4


def test_3():
    assert f([0, 2, 5]) == 5


def test_4():
    assert f([1, 1, 0, 6]) == 6


def test_5():
    assert f([2, 9, 6]) == 6


def test_6():
    assert f([7, 9]) == 9


def test_7():
    assert f([9, 2, 9, 3]) == 3
