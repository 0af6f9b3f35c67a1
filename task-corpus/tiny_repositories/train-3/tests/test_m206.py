from tiny.m206 import f


def test_0():
    assert f(5) == 80


def test_1():
    assert f(1) == 48


def test_2():
    assert f(12) == 136


def test_3():
    assert f(4) == 72


def test_4():
    assert f(2) == 56


def test_5():
    assert f(0) == 40


def test_6():
    assert f(8) == 104


def test_7():
    assert f(6) == 88
