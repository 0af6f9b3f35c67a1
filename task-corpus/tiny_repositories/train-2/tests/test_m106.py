from tiny.m106 import f


def test_0():
    assert f([2, 8, 9, 4]) == [4, 4, 4, 4]


def test_1():
    assert f([6, 9, 3, 7]) == [7, 7, 7, 7]


def test_2():
    assert f([3, 4]) == [4, 4, 4, 4]


def test_3():
    assert f([5, 8, 4]) == [4, 4, 4, 4]


def test_4():
    assert f([3, 1]) == [1, 1, 1, 1]


def test_5():
    assert f([5, 8, 6, 8]) == [8, 8, 8, 8]


def test_6():
    assert f([0, 0]) == [0, 0, 0, 0]


def test_7():
    assert f([6, 7, 0]) == [0, 0, 0, 0]
