from tiny.m082 import f


def test_0():
    assert f([4, 8, 5]) == [11, 12, 15]


def test_1():
    assert f([4, 6, 8]) == [11, 13, 15]


def test_2():
    assert f([7, 1]) == [8, 14]


def test_3():
    assert f([1, 4]) == [8, 11]


def test_4():
    assert f([7, 0]) == [7, 14]


def test_5():
    assert f([8, 8]) == [15, 15]


def test_6():
    assert f([5, 2, 5]) == [9, 12, 12]


def test_7():
    assert f([0, 3, 7]) == [7, 10, 14]
