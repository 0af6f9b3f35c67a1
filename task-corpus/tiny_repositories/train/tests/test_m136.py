from tiny.m136 import f


def test_0():
    assert f([0, 6, 9]) == [0, 6, 9]


def test_1():
    assert f([1, 4]) == [1, 4]


def test_2():
    assert f([7, 7, 3, 7]) == [1, 1, 1, 1]


def test_3():
    assert f([5, 9, 7, 8]) == [1, 1, 1, 0]


def test_4():
    assert f([6, 4, 8, 5]) == [0, 0, 0, 1]


def test_5():
    assert f([5, 7]) == [1, 1]


def test_6():
    assert f([9, 9, 5]) == [1, 1, 1]


def test_7():
    assert f([5, 7, 9]) == [1, 1, 1]
