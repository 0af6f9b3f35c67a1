from tiny.m012 import f


def test_0():
    assert f([6, 0, 5, 8]) == 13


def test_1():
    assert f([3, 7, 2]) == 12


def test_2():
    assert f([6, 0, 8, 2]) == 13


def test_3():
    assert f([2, 3]) == 8


def test_4():
    assert f([2, 3, 2, 1]) == 8


def test_5():
    assert f([6, 2, 7]) == 12


def test_6():
    assert f([7, 3, 2]) == 12


def test_7():
    assert f([5, 9, 0, 8]) == 14
