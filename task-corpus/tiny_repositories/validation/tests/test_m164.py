from tiny.m164 import f


def test_0():
    assert f([3, 6]) == 9


def test_1():
    assert f([4, 7]) == 11


def test_2():
    assert f([4, 3, 2, 8]) == 12


def test_3():
    assert f([3, 1, 0]) == 3


def test_4():
    assert f([7, 3]) == 10


def test_5():
    assert f([3, 8, 5]) == 8


def test_6():
    assert f([8, 4]) == 12


def test_7():
    assert f([5, 3, 9]) == 14
