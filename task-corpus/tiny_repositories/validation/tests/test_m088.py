from tiny.m088 import f


def test_0():
    assert f([2, 8, 1, 7]) == [8, 1, 7, 2, 2]


def test_1():
    assert f([5, 6, 2, 2]) == [6, 2, 2, 2, 5]


def test_2():
    assert f([1, 8, 5]) == [8, 5, 2, 1]


def test_3():
    assert f([0, 0, 0]) == [0, 0, 2, 0]


def test_4():
    assert f([8, 4]) == [4, 2, 8]


def test_5():
    assert f([5, 7]) == [7, 2, 5]


def test_6():
    assert f([3, 8, 0]) == [8, 0, 2, 3]


def test_7():
    assert f([1, 2]) == [2, 2, 1]
