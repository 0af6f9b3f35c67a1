from tiny.m042 import f


def test_0():
    assert f([6, 5]) == [6, 5]


def test_1():
    assert f([0, 7, 4, 2]) == [7, 4]


def test_2():
    assert f([8, 7]) == [8, 7]


def test_3():
    assert f([4, 4, 3, 9]) == [9, 4, 4, 3]


def test_4():
    assert f([9, 1, 5, 1]) == [9, 5]


def test_5():
    assert f([9, 2, 6, 7]) == [9, 7, 6]


def test_6():
    assert f([0, 3, 4]) == [4, 3]


def test_7():
    assert f([9, 0]) == [9]
