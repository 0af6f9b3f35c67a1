from tiny.m051 import f


def test_0():
    assert f([6, 0, 7, 5]) == 589824


def test_1():
    assert f([5, 1, 9, 0]) == 409600


def test_2():
    assert f([8, 9, 5]) == 1048576


def test_3():
    assert f([2, 2]) == 65536


def test_4():
    assert f([3, 6]) == 147456


def test_5():
    assert f([3, 2]) == 147456


def test_6():
    assert f([3, 1]) == 147456


def test_7():
    assert f([4, 3]) == 262144
