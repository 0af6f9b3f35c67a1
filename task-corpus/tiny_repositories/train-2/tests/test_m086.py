from tiny.m086 import f


def test_0():
    assert f([0, 0, 7, 2]) == [4, 4, 11, 6]


def test_1():
    assert f([3, 6, 8, 1]) == [7, 10, 12, 5]


def test_2():
    assert f([3, 8, 4, 4]) == [7, 12, 8, 8]


def test_3():
    assert f([5, 9]) == [9, 13]


def test_4():
    assert f([4, 7, 6]) == [8, 11, 10]


def test_5():
    assert f([0, 9]) == [4, 13]


def test_6():
    assert f([2, 8, 5, 9]) == [6, 12, 9, 13]


def test_7():
    assert f([7, 1, 6, 7]) == [11, 5, 10, 11]
