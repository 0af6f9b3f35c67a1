from tiny.m165 import f


def test_0():
    assert f([3, 5, 5]) == 7


def test_1():
    assert f([8, 1, 2, 2]) == 2


def test_2():
    assert f([4, 3, 0, 0]) == 3


def test_3():
    assert f([0, 4]) == 3


def test_4():
    assert f([0, 1]) == 7


def test_5():
    assert f([6, 7, 2, 6]) == 4


def test_6():
    assert f([7, 5]) == 4


def test_7():
    assert f([7, 5, 0, 9]) == 8
