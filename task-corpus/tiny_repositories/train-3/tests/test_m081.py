from tiny.m081 import f


def test_0():
    assert f(5) == 7


def test_1():
    assert f(11) == 49


def test_2():
    assert f(12) == 56


def test_3():
    assert f(7) == 21


def test_4():
    assert f(3) == -7


def test_5():
    assert f(0) == -28


def test_6():
    assert f(8) == 28


def test_7():
    assert f(6) == 14
