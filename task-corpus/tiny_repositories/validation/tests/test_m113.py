from tiny.m113 import f


def test_0():
    assert f(4) == 28


def test_1():
    assert f(1) == 16


def test_2():
    assert f(11) == 48


def test_3():
    assert f(2) == 20


def test_4():
    assert f(0) == 12


def test_5():
    assert f(9) == 48


def test_6():
    assert f(10) == 48


def test_7():
    assert f(6) == 36
