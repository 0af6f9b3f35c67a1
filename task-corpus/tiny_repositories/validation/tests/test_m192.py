from tiny.m192 import f


def test_0():
    assert f(4) == 13


def test_1():
    assert f(6) == 17


def test_2():
    assert f(10) == 25


def test_3():
    assert f(9) == 23


def test_4():
    assert f(0) == 5


def test_5():
    assert f(12) == 29


def test_6():
    assert f(8) == 21


def test_7():
    assert f(2) == 9
