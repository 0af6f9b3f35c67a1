from tiny.m213 import f


def test_0():
    assert f([1, 5]) == [1, 5, 8]


def test_1():
    assert f([2, 4, 1, 0]) == [2, 4, 1, 0, 8]


def test_2():
    assert f([3, 1, 1, 8]) == [3, 1, 1, 8, 8]


def test_3():
    assert f([1, 5, 7, 5]) == [1, 5, 7, 5, 8]


def test_4():
    assert f([0, 0, 4, 7]) == [0, 0, 4, 7, 8]


def test_5():
    assert f([3, 1, 2]) == [3, 1, 2, 8]


def test_6():
    assert f([3, 1, 6, 9]) == [3, 1, 6, 9, 8]


def test_7():
    assert f([1, 3]) == [1, 3, 8]
