from tiny.m033 import f


def test_0():
    assert f([3, 8, 7, 2]) == [2, 3, 7, 8]


def test_1():
    assert f([7, 3, 1]) == [1, 3, 7]


def test_2():
    assert f([6, 7]) == [6, 7]


def test_3():
    assert f([7, 9]) == [7, 9]


def test_4():
    assert f([7, 7, 4]) == [4, 7, 7]


def test_5():
    assert f([5, 4, 6, 1]) == [1, 4, 5, 6]


def test_6():
    assert f([8, 0]) == [0, 8]


def test_7():
    assert f([3, 0, 0, 5]) == [0, 0, 3, 5]
