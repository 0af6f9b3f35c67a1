from tiny.m137 import f


def test_0():
    assert f(2) == 7


def test_1():
    assert f(8) == 25


def test_2():
    assert f(1) == 1


def test_3():
    assert f(5) == 13


def test_4():
    assert f(11) == 31


def test_5():
    assert f(7) == 19


def test_6():
    assert f(9) == 25


def test_7():
    assert f(6) == 19
