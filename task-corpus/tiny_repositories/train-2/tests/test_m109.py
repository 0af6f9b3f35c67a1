from tiny.m109 import f


def test_0():
    assert f(11) == 16


def test_1():
    assert f(5) == -8


def test_2():
    assert f(3) == -16


def test_3():
    assert f(1) == -24


def test_4():
    assert f(2) == -20


def test_5():
    assert f(10) == 12


def test_6():
    assert f(4) == -12


def test_7():
    assert f(8) == 4
