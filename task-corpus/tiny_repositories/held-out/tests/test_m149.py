from tiny.m149 import f


def test_0():
    assert f(5) == 120


def test_1():
    assert f(1) == 24


def test_2():
    assert f(6) == 144


def test_3():
    assert f(7) == 168


def test_4():
    assert f(11) == 264


def test_5():
    assert f(0) == 0


def test_6():
    assert f(4) == 96


def test_7():
    assert f(9) == 216
