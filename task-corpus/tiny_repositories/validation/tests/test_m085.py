from tiny.m085 import f


def test_0():
    assert f([0, 9, 7]) == [0, 28, 36]


def test_1():
    assert f([1, 3, 9, 6]) == [4, 12, 24, 36]


def test_2():
    assert f([7, 7, 3, 8]) == [12, 28, 28, 32]


def test_3():
    assert f([5, 2, 8, 8]) == [8, 20, 32, 32]


def test_4():
    assert f([7, 1, 2]) == [28, 8, 4]


def test_5():
    assert f([5, 6, 4]) == [16, 20, 24]


def test_6():
    assert f([4, 6]) == [24, 16]


def test_7():
    assert f([1, 9]) == [36, 4]
