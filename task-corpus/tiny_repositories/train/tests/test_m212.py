from tiny.m212 import f


def test_0():
    assert f([3, 1, 8]) == 12


def test_1():
    assert f([7, 3, 1, 2]) == 24


def test_2():
    assert f([4, 0, 6, 6]) == 15


def test_3():
    assert f([1, 6]) == 6


def test_4():
    assert f([9, 0]) == 3


def test_5():
    assert f([0, 5, 3, 1]) == 3


def test_6():
    assert f([7, 0, 0, 6]) == 24


def test_7():
    assert f([7, 3, 4]) == 24
