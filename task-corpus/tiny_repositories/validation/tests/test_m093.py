from tiny.m093 import f


def test_0():
    assert f([3, 7, 2]) == 7


def test_1():
    assert f([8, 1, 7]) == 6


def test_2():
    assert f([9, 0, 9]) == 0


def test_3():
    assert f([2, 7, 4, 1]) == 7


def test_4():
    assert f([3, 2, 7, 4]) == 7


def test_5():
    assert f([8, 6, 5]) == 1


def test_6():
    assert f([8, 2, 5]) == 4


def test_7():
    assert f([1, 8]) == 8
