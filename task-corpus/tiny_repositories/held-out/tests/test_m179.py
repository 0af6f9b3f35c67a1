from tiny.m179 import f


def test_0():
    assert f(2) == 49


def test_1():
    assert f(6) == 109


def test_2():
    assert f(12) == 199


def test_3():
    assert f(3) == 64


def test_4():
    assert f(8) == 139


def test_5():
    assert f(9) == 154


def test_6():
    assert f(5) == 94


def test_7():
    assert f(11) == 184
