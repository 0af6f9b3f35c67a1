from tiny.m003 import f


def test_0():
    assert f([2, 0, 4]) == 7


def test_1():
    assert f([6, 5, 9]) == 17


def test_2():
    assert f([7, 9]) == 21


def test_3():
    assert f([6, 8]) == 19


def test_4():
    assert f([7, 0]) == 7


def test_5():
    assert f([2, 9]) == 11


def test_6():
    assert f([2, 1, 7]) == 9


def test_7():
    assert f([8, 6, 1]) == 9
