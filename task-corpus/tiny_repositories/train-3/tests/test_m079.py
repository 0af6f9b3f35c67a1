from tiny.m079 import f


def test_0():
    assert f([7, 2, 2, 3]) == [7, 2, 2, 3, 2]


def test_1():
    assert f([9, 8, 7, 6]) == [9, 8, 7, 6, 2]


def test_2():
    assert f([3, 0]) == [3, 0, 2]


def test_3():
    assert f([6, 6]) == [6, 6, 2]


def test_4():
    assert f([7, 4, 3, 9]) == [7, 4, 3, 9, 2]


def test_5():
    assert f([0, 8]) == [0, 8, 2]


def test_6():
    assert f([2, 5, 8, 7]) == [2, 5, 8, 7, 2]


def test_7():
    assert f([0, 1, 9]) == [0, 1, 9, 2]
