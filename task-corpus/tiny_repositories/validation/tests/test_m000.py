from tiny.m000 import f


def test_0():
    assert f([8, 0, 0]) == [15, 7, 7]


def test_1():
    assert f([5, 3, 8, 9]) == [12, 10, 15, 16]


def test_2():
    assert f([5, 1, 0, 8]) == [12, 8, 7, 15]


def test_3():
    assert f([2, 3, 9]) == [9, 10, 16]


def test_4():
    assert f([5, 6, 5, 8]) == [12, 13, 12, 15]


def test_5():
    assert f([4, 7, 5]) == [11, 14, 12]


def test_6():
    assert f([6, 5]) == [13, 12]


def test_7():
    assert f([5, 5, 5]) == [12, 12, 12]
