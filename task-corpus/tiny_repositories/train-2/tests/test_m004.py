from tiny.m004 import f


def test_0():
    assert f([1, 2, 8, 0]) == [1, 2, 3, 9]


def test_1():
    assert f([0, 9, 8, 4]) == [1, 5, 9, 10]


def test_2():
    assert f([9, 7, 9]) == [8, 10, 10]


def test_3():
    assert f([8, 1, 0, 2]) == [1, 2, 3, 9]


def test_4():
    assert f([8, 4, 8, 8]) == [5, 9, 9, 9]


def test_5():
    assert f([9, 6, 2, 3]) == [3, 4, 7, 10]


def test_6():
    assert f([8, 7, 8, 1]) == [2, 8, 9, 9]


def test_7():
    assert f([6, 1]) == [2, 7]
