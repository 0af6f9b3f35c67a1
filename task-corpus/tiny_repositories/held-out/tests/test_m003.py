from tiny.m003 import f


def test_0():
    assert f(6) == 14


def test_1():
    assert f(11) == 19


def test_2():
    assert f(1) == 9


def test_3():
    assert f(3) == 11


def test_4():
    assert f(5) == 13


def test_5():
    assert f(12) == 20


def test_6():
    assert f(8) == 16


def test_7():
    assert f(9) == 17
