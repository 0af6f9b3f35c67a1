from tiny.m204 import f


def test_0():
    assert f(3) == 62


def test_1():
    assert f(6) == 74


def test_2():
    assert f(10) == 90


def test_3():
    assert f(1) == 54


def test_4():
    assert f(2) == 58


def test_5():
    assert f(9) == 86


def test_6():
    assert f(12) == 98


def test_7():
    assert f(5) == 70
