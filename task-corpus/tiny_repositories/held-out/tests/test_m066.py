from tiny.m066 import f


def test_0():
    assert f([2, 0, 6]) == 0


def test_1():
    assert f([4, 6, 1]) == 6


def test_2():
    assert f([9, 4]) == 9


def test_3():
    assert f([7, 2, 7]) == 2


def test_4():
    assert f([3, 5]) == 3


def test_5():
    assert f([4, 0, 8]) == 0


def test_6():
    assert f([5, 4]) == 5


def test_7():
    assert f([7, 3]) == 7
