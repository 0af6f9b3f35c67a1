from tiny.m232 import f


def test_0():
    assert f([6, 5]) == 20


def test_1():
    assert f([1, 8]) == 32


def test_2():
    assert f([6, 0, 9, 4]) == 16


def test_3():
    assert f([9, 2]) == 8


def test_4():
    assert f([3, 7, 0]) == 0


def test_5():
    assert f([9, 3, 1, 0]) == 0


def test_6():
    assert f([4, 6, 4]) == 16


def test_7():
    assert f([2, 2, 0]) == 0
