from tiny.m089 import f


def test_0():
    assert f([6, 8, 8]) == 24


def test_1():
    assert f([5, 5, 1, 9]) == 20


def test_2():
    assert f([7, 5, 0, 4]) == 28


def test_3():
    assert f([4, 6, 0, 6]) == 16


def test_4():
    assert f([5, 7, 7, 5]) == 20


def test_5():
    assert f([8, 4, 8]) == 32


def test_6():
    assert f([7, 8]) == 28


def test_7():
    assert f([5, 3, 9]) == 20
