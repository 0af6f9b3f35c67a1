from tiny.m049 import f


def test_0():
    assert f([5, 6, 7, 5]) == [5, 6, 7, 5]


def test_1():
    assert f([8, 9, 2]) == [8, 9, 2]


def test_2():
    assert f([4, 2, 6]) == [2, 6]


def test_3():
    assert f([9, 6, 9, 5]) == [9, 6, 9, 5]


def test_4():
    assert f([4, 1, 5]) == [1, 5]


def test_5():
    assert f([8, 2, 5]) == [8, 2, 5]


def test_6():
    assert f([4, 5, 9, 5]) == [5, 9, 5]


def test_7():
    assert f([2, 0, 5]) == [2, 0, 5]
