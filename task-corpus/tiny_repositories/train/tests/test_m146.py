from tiny.m146 import f


def test_0():
    assert f([4, 7, 8, 7]) == 4


def test_1():
    assert f([7, 5, 5]) == 7


def test_2():
    assert f([2, 0, 5, 1]) == 2


def test_3():
    assert f([7, 6, 4, 5]) == 7


def test_4():
    assert f([0, 2, 9, 1]) == 0


def test_5():
    assert f([3, 0]) == 3


def test_6():
    assert f([8, 1]) == 8


def test_7():
    assert f([7, 9]) == 7
