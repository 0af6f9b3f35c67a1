from tiny.m059 import f


def test_0():
    assert f(10) == 20


def test_1():
    assert f(0) == 0


def test_2():
    assert f(4) == 8


def test_3():
    assert f(8) == 16


def test_4():
    assert f(11) == 22


def test_5():
    assert f(6) == 12


def test_6():
    assert f(5) == 10


def test_7():
    assert f(9) == 18
