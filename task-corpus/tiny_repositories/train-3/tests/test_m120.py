from tiny.m120 import f


def test_0():
    assert f(0) == 21


def test_1():
    assert f(8) == 168


def test_2():
    assert f(6) == 126


def test_3():
    assert f(9) == 189


def test_4():
    assert f(1) == 21


def test_5():
    assert f(10) == 210


def test_6():
    assert f(12) == 252


def test_7():
    assert f(11) == 231
