from tiny.m127 import f


def test_0():
    assert f(2) == 18


def test_1():
    assert f(8) == 48


def test_2():
    assert f(3) == 23


def test_3():
    assert f(6) == 38


def test_4():
    assert f(10) == 58


def test_5():
    assert f(9) == 53


def test_6():
    assert f(12) == 68


def test_7():
    assert f(0) == 8
