from tiny.m020 import f


def test_0():
    assert f(8) == 32


def test_1():
    assert f(1) == 4


def test_2():
    assert f(2) == 8


def test_3():
    assert f(12) == 48


def test_4():
    assert f(4) == 16


def test_5():
    assert f(7) == 28


def test_6():
    assert f(3) == 12


def test_7():
    assert f(5) == 20
