from tiny.m009 import f


def test_0():
    assert f([9, 3, 1]) == 13


def test_1():
    assert f([1, 8, 9, 8]) == 26


def test_2():
    assert f([9, 8, 6]) == 23


def test_3():
    assert f([3, 0, 8, 3]) == 14


def test_4():
    assert f([1, 7, 1]) == 9


def test_5():
    assert f([3, 8]) == 11


def test_6():
    assert f([5, 9, 6]) == 20


def test_7():
    assert f([8, 4, 6]) == 18
