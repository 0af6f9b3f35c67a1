from tiny.m195 import f


def test_0():
    assert f([7, 0]) == [9, 16]


def test_1():
    assert f([3, 7, 0]) == [9, 16, 12]


def test_2():
    assert f([2, 5]) == [14, 11]


def test_3():
    assert f([4, 8, 8, 2]) == [11, 17, 17]


def test_4():
    assert f([3, 6, 6, 0]) == [9, 15, 15]


def test_5():
    assert f([4, 5, 0, 4]) == [13, 9, 14]


def test_6():
    assert f([3, 6]) == [15, 12]


def test_7():
    assert f([9, 2]) == [11, 18]
