from tiny.m110 import f


def test_0():
    assert f(2) == 8


def test_1():
    assert f(10) == 10


def test_2():
    assert f(11) == 11


def test_3():
    assert f(3) == 3


def test_4():
    assert f(1) == 7


def test_5():
    assert f(4) == 4


def test_6():
    assert f(12) == 12


def test_7():
    assert f(0) == 6
