from tiny.m183 import f


def test_0():
    assert f([2, 3, 0]) == -13


def test_1():
    assert f([0, 8, 8]) == -8


def test_2():
    assert f([3, 6, 3]) == -13


def test_3():
    assert f([9, 0, 6, 1]) == -7


def test_4():
    assert f([7, 4, 9, 0]) == -7


def test_5():
    assert f([6, 8, 5, 8]) == -13


def test_6():
    assert f([4, 2, 8]) == -10


def test_7():
    assert f([1, 9]) == -8
