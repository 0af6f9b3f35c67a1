from tiny.m047 import f


def test_0():
    assert f(4) == 42


def test_1():
    assert f(0) == 42


def test_2():
    assert f(9) == 63


def test_3():
    assert f(6) == 42


def test_4():
    assert f(1) == 42


def test_5():
    assert f(11) == 77


def test_6():
    assert f(12) == 84


def test_7():
    assert f(8) == 56
