from tiny.m179 import f


def test_0():
    assert f([5, 5, 1, 4]) == 24


def test_1():
    assert f([1, 5, 0]) == 20


def test_2():
    assert f([1, 2]) == 20


def test_3():
    assert f([4, 9]) == 23


def test_4():
    assert f([3, 8]) == 22


def test_5():
    assert f([9, 6, 8, 5]) == 28


def test_6():
    assert f([8, 7, 9, 3]) == 27


def test_7():
    assert f([7, 5, 3, 2]) == 26
