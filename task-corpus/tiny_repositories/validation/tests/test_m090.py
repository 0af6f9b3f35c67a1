from tiny.m090 import f


def test_0():
    assert f([5, 7, 7, 5]) == [10, 10, 8, 8]


def test_1():
    assert f([8, 4, 8]) == [11, 11, 7]


def test_2():
    assert f([7, 8]) == [11, 10]


def test_3():
    assert f([5, 3, 9]) == [12, 8, 6]


def test_4():
    assert f([9, 2]) == [12, 5]


def test_5():
    assert f([0, 0]) == [3, 3]


def test_6():
    assert f([3, 0]) == [6, 3]


def test_7():
    assert f([1, 3, 8]) == [11, 6, 4]
