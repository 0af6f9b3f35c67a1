from tiny.m030 import f


def test_0():
    assert f([8, 2, 4, 1]) == [16, 4, 8, 2]


def test_1():
    assert f([9, 7, 2, 4]) == [18, 14, 4, 8]


def test_2():
    assert f([4, 5, 5]) == [8, 10, 10]


def test_3():
    assert f([9, 7, 8]) == [18, 14, 16]


def test_4():
    assert f([1, 6, 1]) == [2, 12, 2]


def test_5():
    assert f([9, 8, 9]) == [18, 16, 18]


def test_6():
    assert f([6, 4, 4, 9]) == [12, 8, 8, 18]


def test_7():
    assert f([2, 1, 0, 2]) == [4, 2, 0, 4]
