from tiny.m074 import f


def test_0():
    assert f([0, 4, 6]) == [0, 6]


def test_1():
    assert f([5, 2, 1]) == [20, 4]


def test_2():
    assert f([7, 9, 9]) == [14, 18]


def test_3():
    assert f([2, 1, 6]) == [2, 6]


def test_4():
    assert f([8, 5]) == [32]


def test_5():
    assert f([7, 7, 9, 2]) == [14, 18]


def test_6():
    assert f([9, 7, 6, 6]) == [18, 12]


def test_7():
    assert f([3, 7, 4]) == [6, 8]
