from tiny.m034 import f


def test_0():
    assert f([4, 3]) == 5


def test_1():
    assert f([9, 5, 1]) == 3


def test_2():
    assert f([4, 2]) == 4


def test_3():
    assert f([9, 6]) == 8


def test_4():
    assert f([7, 9, 1]) == 3


def test_5():
    assert f([2, 0, 4]) == 2


def test_6():
    assert f([3, 7]) == 5


def test_7():
    assert f([7, 6, 7, 4]) == 6
