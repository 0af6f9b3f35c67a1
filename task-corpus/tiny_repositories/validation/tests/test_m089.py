from tiny.m089 import f


def test_0():
    assert f([0, 7, 4, 7]) == 24


def test_1():
    assert f([2, 6, 3]) == 23


def test_2():
    assert f([0, 5, 9]) == 26


def test_3():
    assert f([4, 3, 3, 6]) == 23


def test_4():
    assert f([6, 8, 8]) == 25


def test_5():
    assert f([5, 5, 1, 9]) == 26


def test_6():
    assert f([7, 5, 0, 4]) == 24


def test_7():
    assert f([4, 6, 0, 6]) == 23
