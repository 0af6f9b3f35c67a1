from tiny.m168 import f


def test_0():
    assert f([4, 2, 0, 8]) == [0, 4, 8, 16]


def test_1():
    assert f([5, 1, 3, 5]) == [2, 6, 10, 10]


def test_2():
    assert f([9, 4, 8]) == [8, 16, 18]


def test_3():
    assert f([7, 3, 9, 4]) == [6, 8, 14, 18]


def test_4():
    assert f([5, 7]) == [10, 14]


def test_5():
    assert f([8, 6]) == [12, 16]


def test_6():
    assert f([1, 9]) == [2, 18]


def test_7():
    assert f([8, 0, 6, 8]) == [0, 12, 16, 16]
