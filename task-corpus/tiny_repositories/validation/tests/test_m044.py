from tiny.m044 import f


def test_0():
    assert f(0) == 6


def test_1():
    assert f(5) == 16


def test_2():
    assert f(7) == 20


def test_3():
    assert f(1) == 8


def test_4():
    assert f(9) == 24


def test_5():
    assert f(10) == 26


def test_6():
    assert f(3) == 12


def test_7():
    assert f(4) == 14
