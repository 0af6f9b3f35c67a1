from tiny.m008 import f


def test_0():
    assert f([2, 2, 1, 1]) == 10


def test_1():
    assert f([7, 7, 3]) == 21


def test_2():
    assert f([1, 5]) == 10


def test_3():
    assert f([7, 8, 5, 4]) == 28


def test_4():
    assert f([1, 9, 4, 2]) == 20


def test_5():
    assert f([4, 8, 0, 9]) == 25


def test_6():
    assert f([7, 1, 3, 5]) == 20


def test_7():
    assert f([8, 5]) == 17
