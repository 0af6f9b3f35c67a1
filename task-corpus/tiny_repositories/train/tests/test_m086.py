from tiny.m086 import f


def test_0():
    assert f([6, 1]) == [6]


def test_1():
    assert f([5, 6, 5]) == [5, 5, 6]


def test_2():
    assert f([6, 2, 6, 7]) == [6, 7, 6]


def test_3():
    assert f([2, 4, 7, 4]) == [4, 4, 7]


def test_4():
    assert f([2, 6, 9, 5]) == [6, 5, 9]


def test_5():
    assert f([6, 2, 3, 2]) == [6]


def test_6():
    assert f([0, 7, 9, 9]) == [7, 9, 9]


def test_7():
    assert f([3, 8, 7]) == [8, 7]
