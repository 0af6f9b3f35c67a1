from tiny.m113 import f


def test_0():
    assert f([3, 7, 1, 0]) == 3


def test_1():
    assert f([4, 0, 1]) == 4


def test_2():
    assert f([4, 8, 6, 8]) == 4


def test_3():
    assert f([1, 8, 8, 1]) == 1


def test_4():
    assert f([1, 1, 2]) == 1


def test_5():
    assert f([0, 4, 9]) == 0


def test_6():
    assert f([1, 4, 2, 0]) == 1


def test_7():
    assert f([0, 6, 7, 7]) == 0
