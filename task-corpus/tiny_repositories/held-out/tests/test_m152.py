from tiny.m152 import f


def test_0():
    assert f(10) == 44


def test_1():
    assert f(2) == 12


def test_2():
    assert f(9) == 40


def test_3():
    assert f(3) == 16


def test_4():
    assert f(0) == 4


def test_5():
    assert f(8) == 36


def test_6():
    assert f(1) == 8


def test_7():
    assert f(4) == 20
