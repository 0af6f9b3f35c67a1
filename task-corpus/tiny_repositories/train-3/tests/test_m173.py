from tiny.m173 import f


def test_0():
    assert f(5) == 17


def test_1():
    assert f(3) == 15


def test_2():
    assert f(4) == 16


def test_3():
    assert f(0) == 12


def test_4():
    assert f(1) == 13


def test_5():
    assert f(12) == 24


def test_6():
    assert f(8) == 20


def test_7():
    assert f(9) == 21
