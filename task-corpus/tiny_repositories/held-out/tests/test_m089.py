from tiny.m089 import f


def test_0():
    assert f([6, 7, 2, 1]) == 9


def test_1():
    assert f([3, 7]) == 9


def test_2():
    assert f([9, 8, 7, 5]) == 11


def test_3():
    assert f([7, 9, 5, 8]) == 11


def test_4():
    assert f([7, 9]) == 11


def test_5():
    assert f([9, 9, 7]) == 11


def test_6():
    assert f([0, 3, 1]) == 5


def test_7():
    assert f([6, 2, 2]) == 8
