from tiny.m139 import f


def test_0():
    assert f(9) == 24


def test_1():
    assert f(7) == 18


def test_2():
    assert f(0) == -3


def test_3():
    assert f(8) == 21


def test_4():
    assert f(12) == 33


def test_5():
    assert f(4) == 9


def test_6():
    assert f(3) == 6


def test_7():
    assert f(6) == 15
