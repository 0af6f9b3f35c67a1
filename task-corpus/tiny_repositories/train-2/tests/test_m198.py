from tiny.m198 import f


def test_0():
    assert f([6, 1]) == 19


def test_1():
    assert f([5, 2]) == 19


def test_2():
    assert f([9, 2, 2]) == 23


def test_3():
    assert f([3, 4]) == 19


def test_4():
    assert f([1, 8, 6, 0]) == 13


def test_5():
    assert f([8, 5]) == 25


def test_6():
    assert f([9, 4, 0, 8]) == 29


def test_7():
    assert f([7, 3]) == 22
