from tiny.m122 import f


def test_0():
    assert f(9) == 165


def test_1():
    assert f(10) == 185


def test_2():
    assert f(11) == 205


def test_3():
    assert f(7) == 125


def test_4():
    assert f(3) == 45


def test_5():
    assert f(12) == 225


def test_6():
    assert f(1) == 5


def test_7():
    assert f(5) == 85
