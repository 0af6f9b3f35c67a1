from tiny.m044 import f


def test_0():
    assert f([5, 0, 5, 4]) == [5, 0, 5, 4]


def test_1():
    assert f([7, 0]) == [7, 0]


def test_2():
    assert f([6, 2, 8]) == [2, 8, 6]


def test_3():
    assert f([6, 4]) == [6, 4]


def test_4():
    assert f([4, 5, 8, 6]) == [4, 5, 8, 6]


def test_5():
    assert f([9, 8]) == [9, 8]


def test_6():
    assert f([5, 5, 7, 3]) == [5, 5, 7, 3]


def test_7():
    assert f([9, 6, 5]) == [6, 5, 9]
