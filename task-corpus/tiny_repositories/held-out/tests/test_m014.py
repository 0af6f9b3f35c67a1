from tiny.m014 import f


def test_0():
    assert f([9, 4, 6, 2]) == [9, 4]


def test_1():
    assert f([2, 5]) == [2, 5]


def test_2():
    assert f([2, 5, 8]) == [2, 5]


def test_3():
    assert f([7, 6, 2, 4]) == [7, 6]


def test_4():
    assert f([0, 8, 4, 7]) == [0, 8]


def test_5():
    assert f([9, 3, 9, 4]) == [9, 3]


def test_6():
    assert f([4, 4, 4, 1]) == [4, 4]


def test_7():
    assert f([8, 5, 7]) == [8, 5]
