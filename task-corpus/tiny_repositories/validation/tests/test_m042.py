from tiny.m042 import f


def test_0():
    assert f([2, 0, 4]) == [6, 7]


def test_1():
    assert f([3, 7]) == [10, 7]


def test_2():
    assert f([7, 6, 7, 4]) == [24, 7]


def test_3():
    assert f([6, 2, 4]) == [12, 7]


def test_4():
    assert f([3, 0]) == [3, 7]


def test_5():
    assert f([1, 8, 9, 6]) == [24, 7]


def test_6():
    assert f([1, 9, 0, 1]) == [11, 7]


def test_7():
    assert f([1, 9, 1]) == [11, 7]
