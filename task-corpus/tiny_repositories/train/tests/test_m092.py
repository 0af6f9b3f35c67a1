from tiny.m092 import f


def test_0():
    assert f([5, 0, 8, 3]) == [5, 8]


def test_1():
    assert f([3, 7, 2]) == [3, 2]


def test_2():
    assert f([8, 1, 7]) == [8, 7]


def test_3():
    assert f([9, 0, 9]) == [9, 9]


def test_4():
    assert f([2, 7, 4, 1]) == [2, 4]


def test_5():
    assert f([3, 2, 7, 4]) == [3, 7]


def test_6():
    assert f([8, 6, 5]) == [8, 5]


def test_7():
    assert f([8, 2, 5]) == [8, 5]
