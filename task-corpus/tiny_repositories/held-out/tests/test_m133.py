from tiny.m133 import f


def test_0():
    assert f([0, 6, 9]) == [5, 0, 6, 9]


def test_1():
    assert f([1, 4]) == [5, 1, 4]


def test_2():
    assert f([7, 7, 3, 7]) == [5, 7, 7, 3, 7]


def test_3():
    assert f([5, 9, 7, 8]) == [5, 5, 9, 7, 8]


def test_4():
    assert f([6, 4, 8, 5]) == [5, 6, 4, 8, 5]


def test_5():
    assert f([5, 7]) == [5, 5, 7]


def test_6():
    assert f([9, 9, 5]) == [5, 9, 9, 5]


def test_7():
    assert f([5, 7, 9]) == [5, 5, 7, 9]
