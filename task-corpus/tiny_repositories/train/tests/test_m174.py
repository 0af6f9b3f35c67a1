from tiny.m174 import f


def test_0():
    assert f([3, 1, 2]) == 35


def test_1():
    assert f([4, 7, 6, 3]) == 45


def test_2():
    assert f([4, 0]) == 30


def test_3():
    assert f([3, 0]) == 25


def test_4():
    assert f([3, 3, 2, 0]) == 25


def test_5():
    assert f([8, 0, 1, 8]) == 90


def test_6():
    assert f([6, 9, 8, 2]) == 50


def test_7():
    assert f([2, 5]) == 45
