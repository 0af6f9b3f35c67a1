from tiny.m115 import f


def test_0():
    assert f([4, 7, 0, 7]) == [2, 5, 8, 2, 8]


def test_1():
    assert f([5, 1, 0]) == [2, 6, 2, 2]


def test_2():
    assert f([9, 7, 7]) == [2, 10, 8, 8]


def test_3():
    assert f([6, 6]) == [2, 7, 7]


def test_4():
    assert f([7, 1, 7]) == [2, 8, 2, 8]


def test_5():
    assert f([7, 8, 5]) == [2, 8, 9, 6]


def test_6():
    assert f([4, 8, 9, 9]) == [2, 5, 9, 10, 10]


def test_7():
    assert f([2, 3, 9, 4]) == [2, 3, 4, 10, 5]
