from tiny.m019 import f


def test_0():
    assert f([7, 4]) == 7


def test_1():
    assert f([6, 5, 7]) == 6


def test_2():
    assert f([5, 6]) == 5


def test_3():
    assert f([9, 0]) == [7, 16]


def test_4():
    assert f([5, 9, 7, 1]) == 5


def test_5():
    assert f([6, 9, 8]) == 6


def test_6():
    assert f([4, 6]) == 4


def test_7():
    assert f([0, 1, 7, 6]) == 0
