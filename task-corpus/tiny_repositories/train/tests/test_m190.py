from tiny.m190 import f


def test_0():
    assert f(10) == 300


def test_1():
    assert f(7) == 210


def test_2():
    assert f(4) == 120


def test_3():
    assert f(3) == 90


def test_4():
    assert f(1) == 30


def test_5():
    assert f(2) == 60


def test_6():
    assert f(11) == 330


def test_7():
    assert f(0) == 0
