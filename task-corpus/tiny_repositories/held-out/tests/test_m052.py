from tiny.m052 import f


def test_0():
    assert f([2, 1]) == [6, 7]


def test_1():
    assert f([0, 2, 1]) == [6, 5, 7]


def test_2():
    assert f([3, 5, 1, 1]) == [6, 8, 10, 6]


def test_3():
    assert f([2, 3, 5]) == [10, 7, 8]


def test_4():
    assert f([5, 2, 0]) == [5, 10, 7]


def test_5():
    assert f([8, 2]) == [7, 13]


def test_6():
    assert f([1, 5, 4]) == [9, 6, 10]


def test_7():
    assert f([7, 7]) == [12, 12]
