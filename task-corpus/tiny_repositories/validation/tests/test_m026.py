from tiny.m026 import f


def test_0():
    assert f(10) == 15


def test_1():
    assert f(9) == 14


def test_2():
    assert f(0) == 12


def test_3():
    assert f(8) == 13


def test_4():
    assert f(3) == 12


def test_5():
    assert f(2) == 12


def test_6():
    assert f(6) == 12


def test_7():
    assert f(11) == 16
