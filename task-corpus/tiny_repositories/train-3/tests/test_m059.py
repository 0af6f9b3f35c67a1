from tiny.m059 import f


def test_0():
    assert f([5, 3]) == 3


def test_1():
    assert f([6, 9, 0, 0]) == 0


def test_2():
    assert f([8, 6]) == 6


def test_3():
    assert f([5, 4, 2, 6]) == 6


def test_4():
    assert f([8, 9]) == 9


def test_5():
    assert f([3, 5]) == 5


def test_6():
    assert f([9, 1, 7]) == 7


def test_7():
    assert f([5, 6, 8]) == 8
