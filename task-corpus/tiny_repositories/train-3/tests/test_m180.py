from tiny.m180 import f


def test_0():
    assert f([0, 8]) == [0]


def test_1():
    assert f([7, 0]) == [7]


def test_2():
    assert f([0, 4]) == [0]


def test_3():
    assert f([2, 1, 0]) == [2, 1]


def test_4():
    assert f([5, 9, 4]) == [5, 9]


def test_5():
    assert f([9, 5]) == [9]


def test_6():
    assert f([3, 3, 7, 1]) == [3, 3, 7]


def test_7():
    assert f([6, 9]) == [6]
