from tiny.m026 import f


def test_0():
    assert f([8, 1]) == [8, 1]


def test_1():
    assert f([0, 9]) == [0, 9]


def test_2():
    assert f([3, 9, 4, 2]) == [3, 9, 4, 2]


def test_3():
    assert f([4, 6, 9, 9]) == [4, 6, 9, 9]


def test_4():
    assert f([3, 3, 3]) == [3, 3, 3]


def test_5():
    assert f([9, 6, 4]) == [9, 6, 4]


def test_6():
    assert f([4, 3, 4, 5]) == [4, 3, 4]


def test_7():
    assert f([7, 2, 4, 4]) == [7, 2, 4, 4]
