from tiny.m182 import f


def test_0():
    assert f(6) == 16


def test_1():
    assert f(10) == 0


def test_2():
    assert f(9) == 4


def test_3():
    assert f(2) == 32


def test_4():
    assert f(1) == 36


def test_5():
    assert f(8) == 8


def test_6():
    assert f(4) == 32


def test_7():
    assert f(12) == 8
