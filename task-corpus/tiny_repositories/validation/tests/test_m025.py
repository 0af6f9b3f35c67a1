from tiny.m025 import f


def test_0():
    assert f([0, 2, 9]) == [3, 5, 12]


def test_1():
    assert f([3, 6, 8]) == [6, 9, 11]


def test_2():
    assert f([7, 2]) == [10, 5]


def test_3():
    assert f([4, 1]) == [7, 4]


def test_4():
    assert f([8, 6, 2, 6]) == [11, 9, 5, 9]


def test_5():
    assert f([0, 4, 4]) == [3, 7, 7]


def test_6():
    assert f([6, 9, 6, 6]) == [9, 12, 9, 9]


def test_7():
    assert f([2, 3]) == [5, 6]
