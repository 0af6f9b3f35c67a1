from tiny.m201 import f


def test_0():
    assert f(10) == 46


def test_1():
    assert f(11) == 50


def test_2():
    assert f(8) == 38


def test_3():
    assert f(9) == 42


def test_4():
    assert f(3) == 18


def test_5():
    assert f(1) == 10


def test_6():
    assert f(7) == 34


def test_7():
    assert f(5) == 26
