from tiny.m103 import f


def test_0():
    assert f([5, 9, 7]) == [9, 7, 11]


def test_1():
    assert f([4, 9]) == [11, 6]


def test_2():
    assert f([9, 6]) == [8, 11]


def test_3():
    assert f([4, 7, 0, 0]) == [2, 6, 9, 2]


def test_4():
    assert f([5, 7, 7, 3]) == [5, 7, 9, 9]


def test_5():
    assert f([0, 5, 1]) == [3, 2, 7]


def test_6():
    assert f([2, 7]) == [9, 4]


def test_7():
    assert f([8, 1, 5, 1]) == [3, 10, 3, 7]
