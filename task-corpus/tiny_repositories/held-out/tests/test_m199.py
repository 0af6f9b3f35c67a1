from tiny.m199 import f


def test_0():
    assert f(8) == 36


def test_1():
    assert f(1) == 15


def test_2():
    assert f(12) == 48


def test_3():
    assert f(3) == 21


def test_4():
    assert f(7) == 33


def test_5():
    assert f(10) == 42


def test_6():
    assert f(11) == 45


def test_7():
    assert f(0) == 12
