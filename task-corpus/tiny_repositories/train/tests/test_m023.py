from tiny.m023 import f


def test_0():
    assert f([8, 3]) == [24, 9]


def test_1():
    assert f([3, 2, 9, 4]) == [27, 12]


def test_2():
    assert f([7, 9, 3]) == [27, 9]


def test_3():
    assert f([1, 1, 8, 6]) == [24, 18]


def test_4():
    assert f([4, 5, 8]) == [15, 24]


def test_5():
    assert f([1, 1, 9, 0]) == [27, 0]


def test_6():
    assert f([8, 2, 0]) == [6, 0]


def test_7():
    assert f([8, 0, 7, 2]) == [21, 6]
