from tiny.m155 import f


def test_0():
    assert f([8, 5, 6]) == [14, 13, 16]


def test_1():
    assert f([6, 2]) == [10, 14]


def test_2():
    assert f([1, 8, 4, 2]) == [10, 12, 16, 9]


def test_3():
    assert f([1, 5]) == [13, 9]


def test_4():
    assert f([3, 4, 2]) == [10, 12, 11]


def test_5():
    assert f([7, 9, 1]) == [9, 17, 15]


def test_6():
    assert f([9, 6, 8]) == [16, 14, 17]


def test_7():
    assert f([2, 2]) == [10, 10]
