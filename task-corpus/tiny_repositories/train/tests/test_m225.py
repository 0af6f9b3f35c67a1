from tiny.m225 import f


def test_0():
    assert f([1, 3, 2]) == -1


def test_1():
    assert f([7, 2, 1]) == -5


def test_2():
    assert f([4, 0, 7, 4]) == -5


def test_3():
    assert f([6, 0, 7]) == -5


def test_4():
    assert f([3, 3, 9, 1]) == -7


def test_5():
    assert f([3, 9]) == -7


def test_6():
    assert f([8, 5]) == -6


def test_7():
    assert f([6, 0, 2, 0]) == -4
