from tiny.m118 import f


def test_0():
    assert f([7, 3, 4]) == [7, 3, 4, 2, 5]


def test_1():
    assert f([8, 9, 2, 6]) == [8, 9, 2, 6, 2, 5]


def test_2():
    assert f([5, 6, 6]) == [5, 6, 6, 2, 5]


def test_3():
    assert f([4, 2, 9, 6]) == [4, 2, 9, 6, 2, 5]


def test_4():
    assert f([1, 4]) == [1, 4, 2, 5]


def test_5():
    assert f([9, 4]) == [9, 4, 2, 5]


def test_6():
    assert f([1, 1, 2, 1]) == [1, 1, 2, 1, 2, 5]


def test_7():
    assert f([8, 1]) == [8, 1, 2, 5]
