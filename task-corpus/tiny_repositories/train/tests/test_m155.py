from tiny.m155 import f


def test_0():
    assert f([7, 9, 1]) == [7, 1, 9]


def test_1():
    assert f([9, 6, 8]) == [9, 8, 6]


def test_2():
    assert f([2, 2]) == [2, 2]


def test_3():
    assert f([4, 3, 9, 4]) == [4, 4, 9, 3]


def test_4():
    assert f([5, 7]) == [5, 7]


def test_5():
    assert f([2, 5, 8]) == [2, 8, 5]


def test_6():
    assert f([5, 8, 1, 7]) == [5, 7, 1, 8]


def test_7():
    assert f([3, 8, 2, 9]) == [3, 9, 2, 8]
