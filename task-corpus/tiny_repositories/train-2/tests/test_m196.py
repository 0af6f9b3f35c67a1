from tiny.m196 import f


def test_0():
    assert f([1, 4]) == [5, 5, 5]


def test_1():
    assert f([8, 0]) == [8, 8, 8]


def test_2():
    assert f([0, 1, 6]) == [7, 7, 7]


def test_3():
    assert f([9, 7, 5, 0]) == [21, 21, 21]


def test_4():
    assert f([6, 1, 7, 1]) == [15, 15, 15]


def test_5():
    assert f([9, 0, 7]) == [16, 16, 16]


def test_6():
    assert f([9, 5]) == [14, 14, 14]


def test_7():
    assert f([5, 7, 1]) == [13, 13, 13]
