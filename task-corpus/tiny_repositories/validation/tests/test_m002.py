from tiny.m002 import f


def test_0():
    assert f([7, 7]) == [7, 7]


def test_1():
    assert f([9, 2, 6]) == [2, 6]


def test_2():
    assert f([0, 4, 3]) == [0, 4, 3]


def test_3():
    assert f([8, 7, 4, 3]) == [8, 7, 4, 3]


def test_4():
    assert f([5, 6, 1]) == [5, 6, 1]


def test_5():
    assert f([3, 4, 4]) == [3, 4, 4]


def test_6():
    assert f([2, 5]) == [2, 5]


def test_7():
    assert f([4, 1]) == [4, 1]
