from tiny.m173 import f


def test_0():
    assert f(1) == 39


def test_1():
    assert f(10) == 66


def test_2():
    assert f(12) == 72


def test_3():
    assert f(0) == 36


def test_4():
    assert f(9) == 63


def test_5():
    assert f(6) == 54


def test_6():
    assert f(11) == 69


def test_7():
    assert f(4) == 48
