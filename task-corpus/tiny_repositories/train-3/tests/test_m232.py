from tiny.m232 import f


def test_0():
    assert f([1, 8, 0, 7]) == [1, 8, 0, 7]


def test_1():
    assert f([3, 8, 3, 9]) == [3, 8, 3, 9]


def test_2():
    assert f([2, 7, 8]) == [2, 7, 8]


def test_3():
    assert f([5, 6]) == [5, 6]


def test_4():
    assert f([7, 6]) == [7, 6]


def test_5():
    assert f([4, 3]) == [4, 3]


def test_6():
    assert f([9, 6, 1]) == [9, 6, 1]


def test_7():
    assert f([9, 7, 2, 3]) == [9, 7, 2, 3]
