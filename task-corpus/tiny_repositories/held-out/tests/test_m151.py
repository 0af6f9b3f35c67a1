from tiny.m151 import f


def test_0():
    assert f(8) == 256


def test_1():
    assert f(3) == 36


def test_2():
    assert f(2) == 16


def test_3():
    assert f(0) == 0


def test_4():
    assert f(11) == 484


def test_5():
    assert f(10) == 400


def test_6():
    assert f(5) == 100


def test_7():
    assert f(4) == 64
