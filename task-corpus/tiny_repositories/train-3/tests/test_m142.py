from tiny.m142 import f


def test_0():
    assert f([5, 5, 0]) == [5, 5]


def test_1():
    assert f([9, 4, 3]) == [9, 4, 3]


def test_2():
    assert f([2, 8, 8, 3]) == [2, 8, 8, 3]


def test_3():
    assert f([6, 1, 0, 5]) == [6, 1, 5]


def test_4():
    assert f([3, 5, 3, 6]) == [3, 5, 3, 6]


def test_5():
    assert f([1, 0, 2, 7]) == [1, 2, 7]


def test_6():
    assert f([7, 0, 6]) == [7, 6]


def test_7():
    assert f([9, 0, 4]) == [9, 4]
