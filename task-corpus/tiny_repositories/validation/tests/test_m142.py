from tiny.m142 import f


def test_0():
    assert f([2, 4, 5]) == [2, 4, 5]


def test_1():
    assert f([5, 6, 9]) == [5, 6]


def test_2():
    assert f([4, 3, 1, 5]) == [4, 3, 1, 5]


def test_3():
    assert f([2, 1, 4, 0]) == [2, 1, 4, 0]


def test_4():
    assert f([4, 4, 8]) == [4, 4, 8]


def test_5():
    assert f([1, 9]) == [1]


def test_6():
    assert f([6, 1, 4, 1]) == [6, 1, 4, 1]


def test_7():
    assert f([1, 9, 0, 8]) == [1, 0, 8]
