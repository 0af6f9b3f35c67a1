from tiny.m046 import f


def test_0():
    assert f([1, 2]) == [1]


def test_1():
    assert f([0, 4, 4, 0]) == [0, 0, 0]


def test_2():
    assert f([4, 3, 8, 1]) == [0, 1, 0]


def test_3():
    assert f([3, 8]) == [1]


def test_4():
    assert f([2, 6]) == [0]


def test_5():
    assert f([5, 6, 9, 2]) == [1, 0, 1]


def test_6():
    assert f([3, 3, 4]) == [1, 1]


def test_7():
    assert f([4, 9, 6]) == [0, 1]
