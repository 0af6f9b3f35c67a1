from tiny.m107 import f


def test_0():
    assert f(12) == 102


def test_1():
    assert f(0) == 30


def test_2():
    assert f(6) == 66


def test_3():
    assert f(3) == 48


def test_4():
    assert f(1) == 36


def test_5():
    assert f(2) == 42


def test_6():
    assert f(4) == 54


def test_7():
    assert f(5) == 60
