from tiny.m187 import f


def test_0():
    assert f([3, 0]) == 3


def test_1():
    assert f([3, 9]) == 12


def test_2():
    assert f([6, 9, 4, 2]) == 21


def test_3():
    assert f([4, 7]) == 11


def test_4():
    assert f([9, 9]) == 18


def test_5():
    assert f([2, 2]) == 4


def test_6():
    assert f([6, 6, 1]) == 13


def test_7():
    assert f([6, 6, 2, 0]) == 14
