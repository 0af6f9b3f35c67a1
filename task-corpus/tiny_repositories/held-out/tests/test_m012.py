from tiny.m012 import f


def test_0():
    assert f(5) == 32


def test_1():
    assert f(1) == 16


def test_2():
    assert f(8) == 68


def test_3():
    assert f(4) == 20


def test_4():
    assert f(2) == 4


def test_5():
    assert f(6) == 44


def test_6():
    assert f(12) == 116


def test_7():
    assert f(9) == 80
