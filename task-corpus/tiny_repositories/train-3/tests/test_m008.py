from tiny.m008 import f


def test_0():
    assert f([6, 0, 3]) == 6


def test_1():
    assert f([4, 7, 3]) == 11


def test_2():
    assert f([2, 3]) == 5


def test_3():
    assert f([6, 5, 6, 0]) == 11


def test_4():
    assert f([6, 1, 9, 4]) == 7


def test_5():
    assert f([7, 5, 9, 2]) == 12


def test_6():
    assert f([6, 4, 4, 0]) == 10


def test_7():
    assert f([7, 2]) == 9
