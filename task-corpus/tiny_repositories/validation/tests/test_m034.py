from tiny.m034 import f


def test_0():
    assert f([9, 6, 4]) == 6


def test_1():
    assert f([4, 3, 4, 5]) == 6


def test_2():
    assert f([7, 2, 4, 4]) == 6


def test_3():
    assert f([1, 8]) == 5


def test_4():
    assert f([5, 7, 3]) == 5


def test_5():
    assert f([0, 0]) == 2


def test_6():
    assert f([7, 7]) == 4


def test_7():
    assert f([5, 5, 9, 3]) == 6
