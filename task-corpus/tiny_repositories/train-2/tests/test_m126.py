from tiny.m126 import f


def test_0():
    assert f(10) == 21


def test_1():
    assert f(1) == 12


def test_2():
    assert f(3) == 14


def test_3():
    assert f(0) == 11


def test_4():
    assert f(7) == 18


def test_5():
    assert f(12) == 23


def test_6():
    assert f(5) == 16


def test_7():
    assert f(9) == 20
