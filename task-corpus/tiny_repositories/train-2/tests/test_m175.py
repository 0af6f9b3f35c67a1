from tiny.m175 import f


def test_0():
    assert f(8) == 13


def test_1():
    assert f(5) == 10


def test_2():
    assert f(0) == 5


def test_3():
    assert f(10) == 15


def test_4():
    assert f(1) == 6


def test_5():
    assert f(6) == 11


def test_6():
    assert f(2) == 7


def test_7():
    assert f(7) == 12
