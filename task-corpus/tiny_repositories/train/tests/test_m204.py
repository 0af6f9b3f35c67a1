from tiny.m204 import f


def test_0():
    assert f([8, 6, 7, 7]) == [0, 2, 3, 3]


def test_1():
    assert f([7, 5, 3, 9]) == [3, 1, 3, 1]


def test_2():
    assert f([7, 2]) == [3, 2]


def test_3():
    assert f([4, 2, 2]) == [0, 2, 2]


def test_4():
    assert f([2, 6, 4]) == [2, 2, 0]


def test_5():
    assert f([9, 6, 1]) == [1, 2, 1]


def test_6():
    assert f([1, 6, 0]) == [1, 2, 0]


def test_7():
    assert f([7, 8, 5, 9]) == [3, 0, 1, 1]
