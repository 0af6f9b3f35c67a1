from tiny.m116 import f


def test_0():
    assert f([6, 1, 4]) == [6, 4, 1]


def test_1():
    assert f([3, 9, 7]) == [9, 7, 3]


def test_2():
    assert f([2, 3, 9]) == [9, 3, 2]


def test_3():
    assert f([0, 0, 1, 1]) == [1, 1, 0, 0]


def test_4():
    assert f([5, 9, 4, 1]) == [9, 5, 4, 1]


def test_5():
    assert f([7, 2, 2, 7]) == [7, 7, 2, 2]


def test_6():
    assert f([8, 7, 1]) == [8, 7, 1]


def test_7():
    assert f([9, 5, 9, 9]) == [9, 9, 9, 5]
