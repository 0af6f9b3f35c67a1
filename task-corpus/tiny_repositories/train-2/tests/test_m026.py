from tiny.m026 import f


def test_0():
    assert f(3) == 24


def test_1():
    assert f(5) == 40


def test_2():
    assert f(2) == 16


def test_3():
    assert f(0) == 0


def test_4():
    assert f(11) == 88


def test_5():
    assert f(8) == 64


def test_6():
    assert f(6) == 48


def test_7():
    assert f(7) == 56
