from tiny.m125 import f


def test_0():
    assert f([0, 1, 0, 5]) == [15, 0, 3, 0]


def test_1():
    assert f([4, 3]) == [9, 12]


def test_2():
    assert f([0, 3, 5, 7]) == [21, 0, 9, 15]


def test_3():
    assert f([7, 6, 8, 9]) == [27, 21, 18, 24]


def test_4():
    assert f([1, 7]) == [21, 3]


def test_5():
    assert f([9, 6, 8]) == [24, 27, 18]


def test_6():
    assert f([3, 4, 4, 7]) == [21, 9, 12, 12]


def test_7():
    assert f([9, 5]) == [15, 27]
