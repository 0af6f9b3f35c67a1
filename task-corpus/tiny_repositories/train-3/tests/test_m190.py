from tiny.m190 import f


def test_0():
    assert f([1, 8, 8, 8]) == [8, 8, 8]


def test_1():
    assert f([9, 1]) == [1]


def test_2():
    assert f([3, 7]) == [7]


def test_3():
    assert f([8, 0, 7, 2]) == [0, 7, 2]


def test_4():
    assert f([5, 6, 9, 4]) == [6, 9, 4]


def test_5():
    assert f([5, 5]) == [5]


def test_6():
    assert f([2, 6, 4, 5]) == [6, 4, 5]


def test_7():
    assert f([1, 2, 6, 1]) == [2, 6, 1]
