from tiny.m110 import f


def test_0():
    assert f(9) == 28


def test_1():
    assert f(7) == 24


def test_2():
    assert f(10) == 30


def test_3():
    assert f(3) == 16


def test_4():
    assert f(11) == 32


def test_5():
    assert f(1) == 12


def test_6():
    assert f(8) == 26


def test_7():
    assert f(12) == 34
