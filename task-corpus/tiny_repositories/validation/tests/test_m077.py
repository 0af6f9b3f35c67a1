from tiny.m077 import f


def test_0():
    assert f([2, 0, 6]) == 12


def test_1():
    assert f([4, 6, 1]) == 15


def test_2():
    assert f([9, 4]) == 17


def test_3():
    assert f([7, 2, 7]) == 20


def test_4():
    assert f([3, 5]) == 12


def test_5():
    assert f([4, 0, 8]) == 16


def test_6():
    assert f([5, 4]) == 13


def test_7():
    assert f([7, 3]) == 14
