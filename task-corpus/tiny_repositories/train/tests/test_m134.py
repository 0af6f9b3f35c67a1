from tiny.m134 import f


def test_0():
    assert f(9) == 11


def test_1():
    assert f(7) == 10


def test_2():
    assert f(12) == 13


def test_3():
    assert f(8) == 11


def test_4():
    assert f(3) == 8


def test_5():
    assert f(4) == 9


def test_6():
    assert f(0) == 7


def test_7():
    assert f(10) == 12
