from tiny.m069 import f


def test_0():
    assert f([9, 5, 5]) == [9, 5]


def test_1():
    assert f([8, 4]) == [8]


def test_2():
    assert f([0, 5, 2, 6]) == [0, 2]


def test_3():
    assert f([5, 4, 6]) == [5, 6]


def test_4():
    assert f([5, 7, 5]) == [5, 5]


def test_5():
    assert f([8, 4, 1]) == [8, 1]


def test_6():
    assert f([1, 4, 6, 1]) == [1, 6]


def test_7():
    assert f([8, 7, 2, 0]) == [8, 2]
