from tiny.m098 import f


def test_0():
    assert f([9, 3, 6, 9]) == 3


def test_1():
    assert f([0, 6, 3, 7]) == 0


def test_2():
    assert f([5, 7, 0, 3]) == 7


def test_3():
    assert f([9, 1, 5, 6]) == 5


def test_4():
    assert f([0, 3, 6, 5]) == 6


def test_5():
    assert f([6, 2, 7, 2]) == 1


def test_6():
    assert f([0, 2, 9, 2]) == 5


def test_7():
    assert f([4, 5, 6]) == 7
