from tiny.m027 import f


def test_0():
    assert f([0, 1, 2]) == [0, 8]


def test_1():
    assert f([7, 6]) == [21, 29]


def test_2():
    assert f([5, 2, 5]) == [15, 23]


def test_3():
    assert f([0, 1, 8, 8]) == [0, 8]


def test_4():
    assert f([6, 4, 1, 8]) == [18, 26]


def test_5():
    assert f([0, 2, 9]) == [0, 8]


def test_6():
    assert f([3, 6, 8]) == [9, 17]


def test_7():
    assert f([7, 2]) == [21, 29]
