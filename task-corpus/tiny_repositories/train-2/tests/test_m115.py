from tiny.m115 import f


def test_0():
    assert f([3, 3]) == 9


def test_1():
    assert f([5, 8]) == 64


def test_2():
    assert f([9, 1]) == 81


def test_3():
    assert f([7, 1, 7]) == 49


def test_4():
    assert f([4, 4, 2, 5]) == 25


def test_5():
    assert f([4, 1]) == 16


def test_6():
    assert f([2, 0, 2, 9]) == 81


def test_7():
    assert f([5, 8, 9, 6]) == 81
