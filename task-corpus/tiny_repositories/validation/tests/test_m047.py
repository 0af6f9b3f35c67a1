from tiny.m047 import f


def test_0():
    assert f([0, 7, 4, 2]) == [7, 14, 11, 9, 9]


def test_1():
    assert f([8, 7]) == [15, 14, 9]


def test_2():
    assert f([4, 4, 3, 9]) == [11, 11, 10, 16, 9]


def test_3():
    assert f([9, 1, 5, 1]) == [16, 8, 12, 8, 9]


def test_4():
    assert f([9, 2, 6, 7]) == [16, 9, 13, 14, 9]


def test_5():
    assert f([0, 3, 4]) == [7, 10, 11, 9]


def test_6():
    assert f([9, 0]) == [16, 7, 9]


def test_7():
    assert f([7, 4, 0]) == [14, 11, 7, 9]
