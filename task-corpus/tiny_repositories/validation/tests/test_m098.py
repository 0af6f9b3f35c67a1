from tiny.m098 import f


def test_0():
    assert f(1) == 8


def test_1():
    assert f(2) == 8


def test_2():
    assert f(12) == 0


def test_3():
    assert f(4) == -42


def test_4():
    assert f(6) == 8


def test_5():
    assert f(10) == 8


def test_6():
    assert f(8) == 8


def test_7():
    assert f(11) == 7
