from tiny.m173 import f


def test_0():
    assert f([8, 2, 0]) == -6


def test_1():
    assert f([1, 7, 0, 4]) == -8


def test_2():
    assert f([1, 3]) == -7


def test_3():
    assert f([9, 6, 8, 1]) == 0


def test_4():
    assert f([3, 8, 6]) == 0


def test_5():
    assert f([8, 8, 1]) == 0


def test_6():
    assert f([7, 3, 4, 1]) == -4


def test_7():
    assert f([7, 2, 1, 6]) == -7
