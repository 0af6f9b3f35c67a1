from tiny.m061 import f


def test_0():
    assert f(9) == 19


def test_1():
    assert f(7) == 15


def test_2():
    assert f(6) == 13


def test_3():
    assert f(12) == 25


def test_4():
    assert f(11) == 23


def test_5():
    assert f(5) == 11


def test_6():
    assert f(1) == 3


def test_7():
    assert f(0) == 1
