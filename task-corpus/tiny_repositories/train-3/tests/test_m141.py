from tiny.m141 import f


def test_0():
    assert f([3, 4]) == 3


def test_1():
    assert f([5, 8]) == 5


def test_2():
    assert f([1, 1, 0, 7]) == 0


def test_3():
    assert f([0, 1]) == 0


def test_4():
    assert f([0, 9, 8]) == 0


def test_5():
    assert f([8, 5, 6, 7]) == 5


def test_6():
    assert f([7, 0]) == 0


def test_7():
    assert f([7, 6]) == 6
