from tiny.m032 import f


def test_0():
    assert f(0) == -24


def test_1():
    assert f(7) == -3


def test_2():
    assert f(2) == -18


def test_3():
    assert f(3) == -15


def test_4():
    assert f(10) == 6


def test_5():
    assert f(4) == -12


def test_6():
    assert f(11) == 9


def test_7():
    assert f(12) == 12
