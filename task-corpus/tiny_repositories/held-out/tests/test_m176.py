from tiny.m176 import f


def test_0():
    assert f([1, 2, 7]) == [2, 2]


def test_1():
    assert f([7, 6, 3]) == [6, 6]


def test_2():
    assert f([4, 0]) == [0, 0]


def test_3():
    assert f([3, 0]) == [0, 0]


def test_4():
    assert f([3, 3, 2, 0]) == [3, 0, 3, 0]


def test_5():
    assert f([8, 0, 1, 8]) == [0, 8, 0, 8]


def test_6():
    assert f([6, 9, 8, 2]) == [9, 2, 9, 2]


def test_7():
    assert f([2, 5]) == [5, 5]
