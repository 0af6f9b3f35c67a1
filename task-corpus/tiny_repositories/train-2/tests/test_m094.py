from tiny.m094 import f


def test_0():
    assert f(2) == 0


def test_1():
    assert f(9) == 24


def test_2():
    assert f(1) == 0


def test_3():
    assert f(8) == 16


def test_4():
    assert f(12) == 32


def test_5():
    assert f(7) == 16


def test_6():
    assert f(4) == 8


def test_7():
    assert f(5) == 8
