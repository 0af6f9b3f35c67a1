from tiny.m108 import f


def test_0():
    assert f([5, 1, 7]) == [15, 3, 21]


def test_1():
    assert f([8, 0, 8]) == [24, 0, 24]


def test_2():
    assert f([1, 5, 7]) == [3, 15, 21]


def test_3():
    assert f([2, 7, 8]) == [6, 21, 24]


def test_4():
    assert f([3, 1, 8, 3]) == [9, 3, 24, 9]


def test_5():
    assert f([2, 4]) == [6, 12]


def test_6():
    assert f([9, 2]) == [27, 6]


def test_7():
    assert f([3, 7, 9, 8]) == [9, 21, 27, 24]
