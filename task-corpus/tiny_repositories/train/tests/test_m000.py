from tiny.m000 import f


def test_0():
    assert f([8, 0, 0]) == [0, 0, 8]


def test_1():
    assert f([5, 3, 8, 9]) == [3, 8, 9, 5]


def test_2():
    assert f([5, 1, 0, 8]) == [1, 0, 8, 5]


def test_3():
    assert f([2, 3, 9]) == [3, 9, 2]


def test_4():
    assert f([5, 6, 5, 8]) == [6, 5, 8, 5]


def test_5():
    assert f([4, 7, 5]) == [7, 5, 4]


def test_6():
    assert f([6, 5]) == [5, 6]


def test_7():
    assert f([5, 5, 5]) == [5, 5, 5]
