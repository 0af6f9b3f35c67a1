from tiny.m173 import f


def test_0():
    assert f(8) == 28


def test_1():
    assert f(1) == 4


def test_2():
    assert f(9) == 4


def test_3():
    assert f(3) == 20


def test_4():
    assert f(12) == 28


def test_5():
    assert f(11) == 20


def test_6():
    assert f(5) == 4


def test_7():
    assert f(10) == 12
