from tiny.m179 import f


def test_0():
    assert f([0, 1, 3, 1]) == 3


def test_1():
    assert f([9, 5, 9]) == 4


def test_2():
    assert f([5, 1, 4]) == 4


def test_3():
    assert f([2, 0]) == 2


def test_4():
    assert f([8, 6, 8, 6]) == 2


def test_5():
    assert f([0, 5, 6, 5]) == 6


def test_6():
    assert f([8, 8, 5]) == 3


def test_7():
    assert f([1, 3]) == 2
