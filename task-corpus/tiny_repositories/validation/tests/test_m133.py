from tiny.m133 import f


def test_0():
    assert f([7, 7, 9, 0]) == [21, 27, 0]


def test_1():
    assert f([4, 0, 0, 0]) == [0, 0, 0]


def test_2():
    assert f([5, 8, 7]) == [24, 21]


def test_3():
    assert f([9, 2]) == [6]


def test_4():
    assert f([5, 5, 7]) == [15, 21]


def test_5():
    assert f([2, 3, 8, 0]) == [9, 24, 0]


def test_6():
    assert f([5, 5, 6, 4]) == [15, 18, 12]


def test_7():
    assert f([8, 9, 2, 4]) == [27, 6, 12]
