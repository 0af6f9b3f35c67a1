from tiny.m229 import f


def test_0():
    assert f([0, 1, 7, 4]) == 13


def test_1():
    assert f([9, 6, 1, 5]) == [9, 6, 4, 5]


def test_2():
    assert f([4, 8]) == 13


def test_3():
    assert f([7, 8, 4, 6]) == [7, 8, 4, 6]


def test_4():
    assert f([2, 9]) == 12


def test_5():
    assert f([3, 9]) == 13


def test_6():
    assert f([6, 4, 8, 6]) == 25


def test_7():
    assert f([4, 3, 3]) == 11
