from tiny.m107 import f


def test_0():
    assert f(10) == 34


def test_1():
    assert f(6) == 30


def test_2():
    assert f(0) == 24


def test_3():
    assert f(9) == 33


def test_4():
    assert f(7) == 31


def test_5():
    assert f(2) == 26


def test_6():
    assert f(12) == 36


def test_7():
    assert f(4) == 28
