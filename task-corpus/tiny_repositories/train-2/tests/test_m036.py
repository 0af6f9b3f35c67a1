from tiny.m036 import f


def test_0():
    assert f([4, 2]) == [7, 5]


def test_1():
    assert f([7, 0, 8]) == [10, 3]


def test_2():
    assert f([1, 5]) == [4, 8]


def test_3():
    assert f([8, 9, 5, 5]) == [11, 12]


def test_4():
    assert f([0, 6]) == [3, 9]


def test_5():
    assert f([3, 0, 3, 9]) == [6, 3]


def test_6():
    assert f([6, 5]) == [9, 8]


def test_7():
    assert f([6, 9]) == [9, 12]
