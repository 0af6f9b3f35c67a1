from tiny.m074 import f


def test_0():
    assert f(11) == 9


def test_1():
    assert f(0) == 1


def test_2():
    assert f(4) == 9


def test_3():
    assert f(7) == 1


def test_4():
    assert f(5) == 11


def test_5():
    assert f(6) == 13


def test_6():
    assert f(12) == 11


def test_7():
    assert f(1) == 3
