from tiny.m233 import f


def test_0():
    assert f([5, 4]) == [5]


def test_1():
    assert f([3, 5, 2]) == [2, 3]


def test_2():
    assert f([3, 7, 0]) == [0, 3]


def test_3():
    assert f([4, 2, 6, 6]) == [4, 2, 6, 6, 4]


def test_4():
    assert f([1, 9, 7]) == [1, 9, 7, 4]


def test_5():
    assert f([6, 3, 8]) == [6, 3, 8, 4]


def test_6():
    assert f([7, 0]) == [7]


def test_7():
    assert f([4, 1, 0]) == [0, 4]
