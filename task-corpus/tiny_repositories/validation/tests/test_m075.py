from tiny.m075 import f


def test_0():
    assert f(1) == 5


def test_1():
    assert f(12) == 360


def test_2():
    assert f(2) == 10


def test_3():
    assert f(7) == 210


def test_4():
    assert f(9) == 270


def test_5():
    assert f(6) == 180


def test_6():
    assert f(10) == 300


def test_7():
    assert f(8) == 240
