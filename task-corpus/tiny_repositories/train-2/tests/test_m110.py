from tiny.m110 import f


def test_0():
    assert f([3, 6, 5]) == [3, 6, 5, 3, 7]


def test_1():
    assert f([3, 6, 0]) == [3, 6, 0, 3, 7]


def test_2():
    assert f([7, 8, 1]) == [7, 8, 1, 3, 7]


def test_3():
    assert f([4, 0]) == [4, 0, 3, 7]


def test_4():
    assert f([4, 3, 5, 4]) == [4, 3, 5, 4, 3, 7]


def test_5():
    assert f([7, 1]) == [7, 1, 3, 7]


def test_6():
    assert f([2, 0, 2, 9]) == [2, 0, 2, 9, 3, 7]


def test_7():
    assert f([7, 3, 7, 2]) == [7, 3, 7, 2, 3, 7]
