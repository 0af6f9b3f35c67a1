from tiny.m153 import f


def test_0():
    assert f([6, 3]) == 3


def test_1():
    assert f([3, 4, 9, 3]) == 3


def test_2():
    assert f([6, 4, 2]) == 2


def test_3():
    assert f([4, 3, 5]) == 5


def test_4():
    assert f([0, 5, 4, 5]) == 5


def test_5():
    assert f([6, 6]) == 6


def test_6():
    assert f([0, 7]) == 7


def test_7():
    assert f([6, 4]) == 4
