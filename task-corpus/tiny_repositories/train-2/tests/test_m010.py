from tiny.m010 import f


def test_0():
    assert f([0, 7, 5]) == [7, 5]


def test_1():
    assert f([8, 9]) == [9]


def test_2():
    assert f([9, 4, 5]) == [4, 5]


def test_3():
    assert f([5, 3]) == [3]


def test_4():
    assert f([8, 2, 2]) == [2, 2]


def test_5():
    assert f([8, 6, 0]) == [6, 0]


def test_6():
    assert f([2, 0, 0]) == [0, 0]


def test_7():
    assert f([4, 9, 7]) == [9, 7]
