from tiny.m164 import f


def test_0():
    assert f(5) == 16


def test_1():
    assert f(3) == 0


def test_2():
    assert f(10) == 8


def test_3():
    assert f(6) == 24


def test_4():
    assert f(0) == 24


def test_5():
    assert f(8) == 40


def test_6():
    assert f(11) == 16


def test_7():
    assert f(2) == 40
