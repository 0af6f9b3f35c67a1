from tiny.m160 import f


def test_0():
    assert f([9, 8, 2]) == 5


def test_1():
    assert f([4, 9, 7, 3]) == 3


def test_2():
    assert f([3, 8]) == 5


def test_3():
    assert f([0, 4, 8]) == 4


def test_4():
    assert f([4, 6, 4, 9]) == 6


def test_5():
    assert f([4, 4, 1, 1]) == 2


def test_6():
    assert f([2, 5, 5, 5]) == 3


def test_7():
    assert f([9, 4, 1, 1]) == 5
