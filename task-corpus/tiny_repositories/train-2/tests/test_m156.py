from tiny.m156 import f


def test_0():
    assert f(4) == 8


def test_1():
    assert f(3) == 7


def test_2():
    assert f(8) == 12


def test_3():
    assert f(6) == 10


def test_4():
    assert f(2) == 6


def test_5():
    assert f(9) == 13


def test_6():
    assert f(10) == 14


def test_7():
    assert f(7) == 11
