from tiny.m057 import f


def test_0():
    assert f([0, 1]) == [0, 1, 6]


def test_1():
    assert f([0, 2, 3, 6]) == [0, 2, 3, 6, 6]


def test_2():
    assert f([7, 8, 2, 2]) == [7, 8, 2, 2, 6]


def test_3():
    assert f([1, 1]) == [1, 1, 6]


def test_4():
    assert f([0, 1, 2, 7]) == [0, 1, 2, 7, 6]


def test_5():
    assert f([8, 3, 5, 8]) == [8, 3, 5, 8, 6]


def test_6():
    assert f([1, 9, 9]) == [1, 9, 9, 6]


def test_7():
    assert f([2, 7, 6]) == [2, 7, 6, 6]
