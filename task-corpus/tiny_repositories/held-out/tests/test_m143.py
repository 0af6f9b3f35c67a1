from tiny.m143 import f


def test_0():
    assert f([2, 7, 8]) == [2, 8]


def test_1():
    assert f([2, 9, 0]) == [2, 0]


def test_2():
    assert f([9, 2, 2, 8]) == [9, 8]


def test_3():
    assert f([1, 8, 5]) == [1, 5]


def test_4():
    assert f([7, 5, 4, 8]) == [7, 8]


def test_5():
    assert f([9, 4]) == [9, 4]


def test_6():
    assert f([5, 2, 5, 1]) == [5, 1]


def test_7():
    assert f([9, 8, 7, 0]) == [9, 0]
