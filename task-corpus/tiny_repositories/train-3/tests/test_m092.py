from tiny.m092 import f


def test_0():
    assert f([9, 9, 4, 0]) == [9, 9, 4, 0]


def test_1():
    assert f([4, 2, 1, 4]) == [4, 4, 2, 1]


def test_2():
    assert f([0, 6, 2, 1]) == [6, 2, 1, 0]


def test_3():
    assert f([6, 3, 1, 0]) == [6, 3, 1, 0]


def test_4():
    assert f([3, 2, 8]) == [8, 3, 2]


def test_5():
    assert f([2, 9, 4, 9]) == [9, 9, 4, 2]


def test_6():
    assert f([1, 8, 8, 5]) == [8, 8, 5, 1]


def test_7():
    assert f([1, 6]) == [6, 1]
