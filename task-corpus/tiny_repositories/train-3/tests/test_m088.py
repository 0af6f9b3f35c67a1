from tiny.m088 import f


def test_0():
    assert f(2) == 18


def test_1():
    assert f(0) == 0


def test_2():
    assert f(6) == 54


def test_3():
    assert f(10) == 90


def test_4():
    assert f(11) == 99


def test_5():
    assert f(12) == 108


def test_6():
    assert f(8) == 72


def test_7():
    assert f(3) == 27
