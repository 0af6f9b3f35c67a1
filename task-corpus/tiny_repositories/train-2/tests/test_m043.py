from tiny.m043 import f


def test_0():
    assert f(11) == 13


def test_1():
    assert f(3) == 5


def test_2():
    assert f(9) == 11


def test_3():
    assert f(8) == 10


def test_4():
    assert f(4) == 6


def test_5():
    assert f(1) == 3


def test_6():
    assert f(2) == 4


def test_7():
    assert f(12) == 14
