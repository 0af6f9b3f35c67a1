from tiny.m027 import f


def test_0():
    assert f(11) == 26


def test_1():
    assert f(6) == 11


def test_2():
    assert f(10) == 23


def test_3():
    assert f(0) == 7


def test_4():
    assert f(9) == 20


def test_5():
    assert f(8) == 17


def test_6():
    assert f(1) == 4


def test_7():
    assert f(2) == 1
