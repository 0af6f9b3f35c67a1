from tiny.m140 import f


def test_0():
    assert f(0) == 16


def test_1():
    assert f(4) == 0


def test_2():
    assert f(10) == 36


def test_3():
    assert f(11) == 49


def test_4():
    assert f(12) == 64


def test_5():
    assert f(1) == 9


def test_6():
    assert f(2) == 4


def test_7():
    assert f(8) == 16
