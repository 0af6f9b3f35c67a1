from tiny.m028 import f


def test_0():
    assert f(8) == -9


def test_1():
    assert f(7) == -18


def test_2():
    assert f(1) == -72


def test_3():
    assert f(3) == -54


def test_4():
    assert f(4) == -45


def test_5():
    assert f(10) == 9


def test_6():
    assert f(5) == -36


def test_7():
    assert f(6) == -27
