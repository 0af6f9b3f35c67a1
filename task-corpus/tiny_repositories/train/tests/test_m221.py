from tiny.m221 import f


def test_0():
    assert f([0, 7, 7, 9]) == 54


def test_1():
    assert f([6, 9]) == 38


def test_2():
    assert f([1, 5, 3]) == 26


def test_3():
    assert f([4, 9]) == 34


def test_4():
    assert f([1, 7]) == 24


def test_5():
    assert f([4, 8]) == 32


def test_6():
    assert f([5, 3, 6, 6]) == 48


def test_7():
    assert f([0, 5, 1, 4]) == 28
