from tiny.m058 import f


def test_0():
    assert f([5, 6]) == 6


def test_1():
    assert f([8, 4, 7, 4]) == 8


def test_2():
    assert f([3, 1, 3, 1]) == 3


def test_3():
    assert f([9, 4, 1]) == 9


def test_4():
    assert f([4, 6, 6, 4]) == 6


def test_5():
    assert f([1, 5, 9]) == 9


def test_6():
    assert f([9, 1, 4]) == 9


def test_7():
    assert f([1, 9, 7]) == 9
