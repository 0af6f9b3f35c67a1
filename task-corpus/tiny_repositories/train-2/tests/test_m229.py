from tiny.m229 import f


def test_0():
    assert f([0, 3]) == [8, 11, 3]


def test_1():
    assert f([7, 1, 5]) == [15, 9, 13, 3]


def test_2():
    assert f([9, 1]) == [17, 9, 3]


def test_3():
    assert f([0, 8, 9]) == [8, 16, 17, 3]


def test_4():
    assert f([5, 7, 6, 8]) == [13, 15, 14, 16, 3]


def test_5():
    assert f([4, 2]) == [12, 10, 3]


def test_6():
    assert f([5, 5, 1, 9]) == [13, 13, 9, 17, 3]


def test_7():
    assert f([3, 7, 9]) == [11, 15, 17, 3]
