from tiny.m097 import f


def test_0():
    assert f(0) == 72


def test_1():
    assert f(11) == 138


def test_2():
    assert f(6) == 108


def test_3():
    assert f(3) == 90


def test_4():
    assert f(10) == 132


def test_5():
    assert f(8) == 120


def test_6():
    assert f(5) == 102


def test_7():
    assert f(1) == 78
