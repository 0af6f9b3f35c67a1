from tiny.m016 import f


def test_0():
    assert f(0) == 41


def test_1():
    assert f(3) == 50


def test_2():
    assert f(8) == 65


def test_3():
    assert f(10) == 71


def test_4():
    assert f(2) == 47


def test_5():
    assert f(4) == 53


def test_6():
    assert f(7) == 62


def test_7():
    assert f(1) == 44
