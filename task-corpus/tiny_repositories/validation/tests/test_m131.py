from tiny.m131 import f


def test_0():
    assert f(5) == 27


def test_1():
    assert f(1) == 24


def test_2():
    assert f(3) == 24


def test_3():
    assert f(0) == 24


def test_4():
    assert f(10) == 42


def test_5():
    assert f(6) == 30


def test_6():
    assert f(9) == 39


def test_7():
    assert f(11) == 45
