from tiny.m157 import f


def test_0():
    assert f(6) == 42


def test_1():
    assert f(12) == 84


def test_2():
    assert f(10) == 70


def test_3():
    assert f(5) == 35


def test_4():
    assert f(3) == 21


def test_5():
    assert f(4) == 28


def test_6():
    assert f(2) == 14


def test_7():
    assert f(11) == 77
