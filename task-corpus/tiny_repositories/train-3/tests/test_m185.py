from tiny.m185 import f


def test_0():
    assert f([3, 5]) == [9, 3, 5, 8]


def test_1():
    assert f([7, 1, 9]) == [9, 1, 7, 8, 9]


def test_2():
    assert f([5, 0, 1]) == [9, 0, 1, 5, 8]


def test_3():
    assert f([7, 9, 8]) == [9, 7, 8, 8, 9]


def test_4():
    assert f([4, 1, 6]) == [9, 1, 4, 6, 8]


def test_5():
    assert f([2, 4, 3, 0]) == [9, 0, 2, 3, 4, 8]


def test_6():
    assert f([6, 0, 9]) == [9, 0, 6, 8, 9]


def test_7():
    assert f([3, 0, 1, 9]) == [9, 0, 1, 3, 8, 9]
