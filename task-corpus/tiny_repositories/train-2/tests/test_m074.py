from tiny.m074 import f


def test_0():
    assert f(11) == 99


def test_1():
    assert f(8) == 72


def test_2():
    assert f(2) == 18


def test_3():
    assert f(12) == 108


def test_4():
    assert f(0) == 0


def test_5():
    assert f(5) == 45


def test_6():
    assert f(9) == 81


def test_7():
    assert f(7) == 63
