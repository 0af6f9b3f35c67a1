from tiny.m063 import f


def test_0():
    assert f([5, 8, 4]) == 44


def test_1():
    assert f([7, 1, 7]) == 34


def test_2():
    assert f([9, 6, 7]) == 48


def test_3():
    assert f([4, 9, 0, 2]) == 44


def test_4():
    assert f([8, 5]) == 44


def test_5():
    assert f([6, 5, 5, 4]) == 40


def test_6():
    assert f([3, 2, 2, 9]) == 28


def test_7():
    assert f([8, 7]) == 48
