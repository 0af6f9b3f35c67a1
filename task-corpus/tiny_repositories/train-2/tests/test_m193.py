from tiny.m193 import f


def test_0():
    assert f(5) == 48


def test_1():
    assert f(3) == 36


def test_2():
    assert f(8) == 66


def test_3():
    assert f(1) == 24


def test_4():
    assert f(6) == 54


def test_5():
    assert f(9) == 72


def test_6():
    assert f(12) == 90


def test_7():
    assert f(4) == 42
