from tiny.m237 import f


def test_0():
    assert f([7, 7, 5]) == [13, 15, 15]


def test_1():
    assert f([2, 9, 8, 9]) == [17, 10, 17, 16]


def test_2():
    assert f([1, 3, 7, 2]) == [10, 9, 11, 15]


def test_3():
    assert f([8, 2]) == [10, 16]


def test_4():
    assert f([5, 1]) == [9, 13]


def test_5():
    assert f([1, 4]) == [12, 9]


def test_6():
    assert f([9, 1, 1]) == [9, 17, 9]


def test_7():
    assert f([2, 1, 8]) == [16, 10, 9]
