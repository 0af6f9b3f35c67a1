from tiny.m143 import f


def test_0():
    assert f([7, 6]) == 4


def test_1():
    assert f([3, 9, 0, 5]) == 3


def test_2():
    assert f([6, 9]) == 1


def test_3():
    assert f([1, 6, 9, 2]) == 0


def test_4():
    assert f([4, 8]) == 2


def test_5():
    assert f([3, 5, 9, 7]) == 3


def test_6():
    assert f([3, 8]) == 2


def test_7():
    assert f([7, 9]) == 1
