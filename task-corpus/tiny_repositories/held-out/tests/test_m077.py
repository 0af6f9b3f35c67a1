from tiny.m077 import f


def test_0():
    assert f(8) == 2365


def test_1():
    assert f(0) == 765


def test_2():
    assert f(10) == 2765


def test_3():
    assert f(6) == 1965


def test_4():
    assert f(9) == 2565


def test_5():
    assert f(7) == 2165


def test_6():
    assert f(12) == 3165


def test_7():
    assert f(1) == 965
