from tiny.m129 import f


def test_0():
    assert f(2) == -27


def test_1():
    assert f(5) == -32


def test_2():
    assert f(11) == -62


def test_3():
    assert f(6) == -37


def test_4():
    assert f(7) == -42


def test_5():
    assert f(3) == -22


def test_6():
    assert f(0) == -37


def test_7():
    assert f(1) == -32
