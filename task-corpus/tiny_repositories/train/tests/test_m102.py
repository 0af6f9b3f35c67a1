from tiny.m102 import f


def test_0():
    assert f([4, 1, 5]) == [16, 4, 20]


def test_1():
    assert f([3, 2, 6]) == [12, 8, 24]


def test_2():
    assert f([9, 3, 6, 9]) == [36, 12, 24, 36]


def test_3():
    assert f([0, 6, 3, 7]) == [0, 24, 12, 28]


def test_4():
    assert f([5, 7, 0, 3]) == [20, 28, 0, 12]


def test_5():
    assert f([9, 1, 5, 6]) == [36, 4, 20, 24]


def test_6():
    assert f([0, 3, 6, 5]) == [0, 12, 24, 20]


def test_7():
    assert f([6, 2, 7, 2]) == [24, 8, 28, 8]
