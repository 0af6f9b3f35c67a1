from tiny.m200 import f


def test_0():
    assert f([4, 9, 4]) == [4, 4]


def test_1():
    assert f([8, 1, 1]) == [1, 1]


def test_2():
    assert f([4, 1, 1, 9]) == [1, 1]


def test_3():
    assert f([0, 0, 7]) == [0, 0]


def test_4():
    assert f([3, 7, 8]) == [3, 7]


def test_5():
    assert f([4, 5, 3]) == [3, 4]


def test_6():
    assert f([6, 5]) == [5, 6]


def test_7():
    assert f([2, 1]) == [1, 2]
