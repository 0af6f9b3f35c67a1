from tiny.m081 import f


def test_0():
    assert f([4, 8, 6]) == [8]


def test_1():
    assert f([1, 2, 2, 0]) == [2, 0]


def test_2():
    assert f([8, 7, 0, 5]) == [7, 5]


def test_3():
    assert f([6, 3, 5, 5]) == [3, 5]


def test_4():
    assert f([3, 4, 4, 1]) == [4, 1]


def test_5():
    assert f([7, 8, 5, 4]) == [8, 4]


def test_6():
    assert f([4, 9, 6]) == [9]


def test_7():
    assert f([9, 5, 4, 8]) == [5, 8]
