from tiny.m168 import f


def test_0():
    assert f([7, 5]) == 0


def test_1():
    assert f([7, 5, 0, 9]) == 6


def test_2():
    assert f([2, 7, 1, 4]) == 0


def test_3():
    assert f([9, 9, 5]) == 6


def test_4():
    assert f([9, 7, 8]) == 6


def test_5():
    assert f([4, 6]) == -3


def test_6():
    assert f([3, 3]) == -12


def test_7():
    assert f([1, 0, 7, 2]) == 0
