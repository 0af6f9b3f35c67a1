from tiny.m056 import f


def test_0():
    assert f(4) == 32


def test_1():
    assert f(1) == 8


def test_2():
    assert f(10) == 32


def test_3():
    assert f(3) == 24


def test_4():
    assert f(12) == 0


def test_5():
    assert f(9) == 24


def test_6():
    assert f(0) == 0


def test_7():
    assert f(6) == 0
