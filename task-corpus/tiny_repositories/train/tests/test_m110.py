from tiny.m110 import f


def test_0():
    assert f([8, 2, 0]) == [9, 3, 1]


def test_1():
    assert f([7, 8]) == [8, 9]


def test_2():
    assert f([0, 0]) == [1, 1]


def test_3():
    assert f([7, 1, 0]) == [8, 2, 1]


def test_4():
    assert f([4, 2, 6]) == [5, 3, 7]


def test_5():
    assert f([3, 3]) == [4, 4]


def test_6():
    assert f([5, 1, 5]) == [6, 2, 6]


def test_7():
    assert f([3, 2, 7, 8]) == [4, 3, 8, 9]
