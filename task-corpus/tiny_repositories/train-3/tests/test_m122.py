from tiny.m122 import f


def test_0():
    assert f(8) == 13


def test_1():
    assert f(1) == 11


def test_2():
    assert f(9) == 13


def test_3():
    assert f(7) == 12


def test_4():
    assert f(12) == 14


def test_5():
    assert f(3) == 11


def test_6():
    assert f(0) == 11


def test_7():
    assert f(4) == 12
