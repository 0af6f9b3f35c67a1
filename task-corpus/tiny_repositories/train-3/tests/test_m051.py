from tiny.m051 import f


def test_0():
    assert f([3, 8, 3, 3]) == [3, 3, 8]


def test_1():
    assert f([5, 8]) == [8]


def test_2():
    assert f([3, 8]) == [8]


def test_3():
    assert f([3, 6, 8]) == [6, 8]


def test_4():
    assert f([2, 4, 4]) == [4, 4]


def test_5():
    assert f([5, 7, 9, 8]) == [7, 8, 9]


def test_6():
    assert f([9, 5, 4]) == [5, 9]


def test_7():
    assert f([1, 5]) == [5]
