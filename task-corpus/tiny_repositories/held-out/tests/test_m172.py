from tiny.m172 import f


def test_0():
    assert f(12) == 52


def test_1():
    assert f(3) == 34


def test_2():
    assert f(5) == 38


def test_3():
    assert f(11) == 50


def test_4():
    assert f(10) == 48


def test_5():
    assert f(6) == 40


def test_6():
    assert f(2) == 32


def test_7():
    assert f(1) == 30
