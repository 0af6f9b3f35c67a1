from tiny.m085 import f


def test_0():
    assert f(7) == 153


def test_1():
    assert f(6) == 144


def test_2():
    assert f(8) == 162


def test_3():
    assert f(5) == 135


def test_4():
    assert f(3) == 117


def test_5():
    assert f(2) == 108


def test_6():
    assert f(12) == 198


def test_7():
    assert f(0) == 90
