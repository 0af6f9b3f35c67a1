from tiny.m099 import f


def test_0():
    assert f([9, 9, 1, 6]) == [1, 9, 9, 6]


def test_1():
    assert f([9, 8, 8, 0]) == [8, 8, 9, 0]


def test_2():
    assert f([1, 7, 7, 7]) == [7, 7, 1, 7]


def test_3():
    assert f([0, 1, 9, 4]) == [9, 1, 0, 4]


def test_4():
    assert f([9, 3, 9]) == [3, 9, 9]


def test_5():
    assert f([7, 4, 2, 3]) == [2, 4, 7, 3]


def test_6():
    assert f([9, 2, 5]) == [2, 9, 5]


def test_7():
    assert f([8, 7]) == [8, 7]
