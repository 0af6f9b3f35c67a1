from tiny.m116 import f


def test_0():
    assert f([5, 0]) == [1, 1, 0, 0]


def test_1():
    assert f([7, 4]) == [1, 1, 2, 4]


def test_2():
    assert f([8, 8]) == [1, 1, 3, 3]


def test_3():
    assert f([6, 3, 7, 2]) == [1, 1, 1, 3, 2, 2]


def test_4():
    assert f([6, 0]) == [1, 1, 1, 0]


def test_5():
    assert f([9, 5]) == [1, 1, 4, 0]


def test_6():
    assert f([1, 2, 1]) == [1, 1, 1, 2, 1]


def test_7():
    assert f([8, 0]) == [1, 1, 3, 0]
