from tiny.m117 import f


def test_0():
    assert f([0, 0, 4]) == [4]


def test_1():
    assert f([9, 6, 2]) == [9, 6]


def test_2():
    assert f([3, 4, 8]) == [3, 4, 8]


def test_3():
    assert f([3, 6, 7, 1]) == [3, 6, 7]


def test_4():
    assert f([1, 5, 0]) == [5]


def test_5():
    assert f([0, 5, 2]) == [5]


def test_6():
    assert f([1, 1, 5]) == [5]


def test_7():
    assert f([7, 1]) == [7]
