from tiny.m097 import f


def test_0():
    assert f([7, 7, 9]) == [7, 7, 9]


def test_1():
    assert f([2, 0, 8]) == [0, 2, 8]


def test_2():
    assert f([8, 7, 7]) == [7, 7, 8]


def test_3():
    assert f([3, 5]) == [3]


def test_4():
    assert f([7, 1, 5]) == [1, 5, 7]


def test_5():
    assert f([2, 2]) == [2, 2]


def test_6():
    assert f([4, 1, 5]) == [1, 4, 5]


def test_7():
    assert f([3, 2, 6]) == [2, 3, 6]
