from tiny.m183 import f


def test_0():
    assert f(5) == 14


def test_1():
    assert f(9) == 28


def test_2():
    assert f(10) == 35


def test_3():
    assert f(0) == 0


def test_4():
    assert f(2) == 7


def test_5():
    assert f(12) == 42


def test_6():
    assert f(3) == 7


def test_7():
    assert f(1) == 0
