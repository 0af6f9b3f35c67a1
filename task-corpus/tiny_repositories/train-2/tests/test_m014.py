from tiny.m014 import f


def test_0():
    assert f([2, 6, 2, 4]) == 4


def test_1():
    assert f([0, 0, 1, 1]) == 1


def test_2():
    assert f([2, 6, 5]) == 5


def test_3():
    assert f([5, 7]) == 7


def test_4():
    assert f([7, 3]) == 3


def test_5():
    assert f([8, 7, 3]) == 3


def test_6():
    assert f([6, 3]) == 3


def test_7():
    assert f([7, 8, 5]) == 5
