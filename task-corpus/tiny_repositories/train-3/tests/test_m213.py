from tiny.m213 import f


def test_0():
    assert f([2, 2, 5, 1]) == [12, 12, 30, 6]


def test_1():
    assert f([6, 5, 7, 8]) == [36, 30, 42, 48]


def test_2():
    assert f([6, 1, 9]) == [36, 6, 54]


def test_3():
    assert f([3, 6, 9]) == [18, 36, 54]


def test_4():
    assert f([8, 9, 9, 1]) == [48, 54, 54, 6]


def test_5():
    assert f([7, 6, 5, 4]) == [42, 36, 30, 24]


def test_6():
    assert f([2, 8, 6]) == [12, 48, 36]


def test_7():
    assert f([3, 5, 8, 4]) == [18, 30, 48, 24]
