from tiny.m208 import f


def test_0():
    assert f([7, 9]) == [13, 15]


def test_1():
    assert f([7, 6, 3, 5]) == [13, 13, 13, 13]


def test_2():
    assert f([4, 8]) == [10, 14]


def test_3():
    assert f([4, 6, 3, 2]) == [13, 13, 13, 13]


def test_4():
    assert f([8, 9]) == [14, 15]


def test_5():
    assert f([5, 0, 8]) == [11, 6, 14]


def test_6():
    assert f([9, 1]) == [15, 7]


def test_7():
    assert f([3, 5, 2, 2]) == [13, 13, 13, 13]
