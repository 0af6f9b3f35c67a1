from tiny.m001 import f


def test_0():
    assert f(7) == 16


def test_1():
    assert f(4) == 13


def test_2():
    assert f(1) == 10


def test_3():
    assert f(9) == 18


def test_4():
    assert f(11) == 20


def test_5():
    assert f(12) == 21


def test_6():
    assert f(2) == 11


def test_7():
    assert f(8) == 17
