from tiny.m077 import f


def test_0():
    assert f([9, 5, 5, 6]) == [11, 10, 10, 14]


def test_1():
    assert f([2, 1, 5, 9]) == [14, 10, 6, 7]


def test_2():
    assert f([0, 8, 1]) == [6, 13, 5]


def test_3():
    assert f([3, 2, 0, 8]) == [13, 5, 7, 8]


def test_4():
    assert f([5, 2, 9]) == [14, 7, 10]


def test_5():
    assert f([5, 0, 5]) == [10, 5, 10]


def test_6():
    assert f([3, 9, 6]) == [11, 14, 8]


def test_7():
    assert f([1, 7, 8]) == [13, 12, 6]
