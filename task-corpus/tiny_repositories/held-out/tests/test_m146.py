from tiny.m146 import f


def test_0():
    assert f(0) == 11


def test_1():
    assert f(11) == 17


def test_2():
    assert f(2) == 11


def test_3():
    assert f(3) == 11


def test_4():
    assert f(9) == 15


def test_5():
    assert f(12) == 18


def test_6():
    assert f(4) == 11


def test_7():
    assert f(8) == 14
