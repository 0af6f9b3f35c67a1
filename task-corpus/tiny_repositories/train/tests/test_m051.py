from tiny.m051 import f


def test_0():
    assert f([8, 1]) == [1]


def test_1():
    assert f([1, 2]) == [2]


def test_2():
    assert f([3, 8]) == [8]


def test_3():
    assert f([2, 6]) == [6]


def test_4():
    assert f([5, 6, 9, 2]) == [6, 9]


def test_5():
    assert f([3, 3, 4]) == [3, 4]


def test_6():
    assert f([4, 9, 6]) == [9, 6]


def test_7():
    assert f([7, 3, 6, 8]) == [3, 6]
