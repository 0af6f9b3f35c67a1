from tiny.m188 import f


def test_0():
    assert f([0, 3, 0]) == [0, 3, 0]


def test_1():
    assert f([3, 8]) == [3, 8]


def test_2():
    assert f([6, 2, 5]) == [5, 2, 6]


def test_3():
    assert f([9, 9, 0, 8]) == [0, 9, 9, 8]


def test_4():
    assert f([0, 0, 6]) == [6, 0, 0]


def test_5():
    assert f([2, 1, 0, 7]) == [1, 0, 1, 2, 7]


def test_6():
    assert f([6, 6, 5]) == [5, 6, 6]


def test_7():
    assert f([7, 8]) == [7, 8]
