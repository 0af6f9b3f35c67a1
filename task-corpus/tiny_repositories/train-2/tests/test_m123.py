from tiny.m123 import f


def test_0():
    assert f([0, 6]) == 0


def test_1():
    assert f([1, 6, 9]) == 1


def test_2():
    assert f([0, 9, 7]) == 0


def test_3():
    assert f([6, 6]) == 6


def test_4():
    assert f([8, 8, 5, 6]) == 5


def test_5():
    assert f([9, 5, 6, 2]) == 2


def test_6():
    assert f([9, 7, 7, 6]) == 6


def test_7():
    assert f([1, 1, 4, 4]) == 1
