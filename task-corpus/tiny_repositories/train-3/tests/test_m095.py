from tiny.m095 import f


def test_0():
    assert f([8, 8, 8]) == 16


def test_1():
    assert f([8, 0, 7, 2]) == 10


def test_2():
    assert f([6, 2, 2]) == 10


def test_3():
    assert f([2, 6]) == 14


def test_4():
    assert f([5, 3, 1, 5]) == 13


def test_5():
    assert f([4, 8, 5]) == 13


def test_6():
    assert f([8, 8, 9]) == 17


def test_7():
    assert f([3, 8]) == 16
