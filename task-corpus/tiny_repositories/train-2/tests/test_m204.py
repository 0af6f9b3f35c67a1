from tiny.m204 import f


def test_0():
    assert f([4, 4, 4, 9]) == [1, 0, 0, 0, 1]


def test_1():
    assert f([4, 4]) == [1, 0, 0]


def test_2():
    assert f([0, 5, 7]) == [1, 0, 1, 3]


def test_3():
    assert f([6, 0, 6, 5]) == [1, 2, 0, 2, 1]


def test_4():
    assert f([9, 6, 8]) == [1, 1, 2, 0]


def test_5():
    assert f([6, 9]) == [1, 2, 1]


def test_6():
    assert f([4, 7, 2, 9]) == [1, 0, 3, 2, 1]


def test_7():
    assert f([5, 6, 4, 5]) == [1, 1, 2, 0, 1]
