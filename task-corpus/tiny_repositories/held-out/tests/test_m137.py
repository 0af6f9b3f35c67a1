from tiny.m137 import f


def test_0():
    assert f([9, 3]) == 9


def test_1():
    assert f([8, 3, 6]) == 8


def test_2():
    assert f([7, 1]) == 7


def test_3():
    assert f([5, 4, 2, 3]) == 5


def test_4():
    assert f([4, 7]) == 4


def test_5():
    assert f([3, 2]) == 3


def test_6():
    assert f([6, 1]) == 6


def test_7():
    assert f([3, 1, 2]) == 3
