from tiny.m011 import f


def test_0():
    assert f([9, 5, 6]) == [5, 5, 5, 5]


def test_1():
    assert f([9, 9, 1, 1]) == [1, 1, 1, 1]


def test_2():
    assert f([6, 2, 1]) == [1, 1, 1, 1]


def test_3():
    assert f([6, 7, 3]) == [3, 3, 3, 3]


def test_4():
    assert f([8, 5, 5, 5]) == [5, 5, 5, 5]


def test_5():
    assert f([0, 7, 1]) == [0, 0, 0, 0]


def test_6():
    assert f([7, 2]) == [2, 2, 2, 2]


def test_7():
    assert f([7, 1]) == [1, 1, 1, 1]
