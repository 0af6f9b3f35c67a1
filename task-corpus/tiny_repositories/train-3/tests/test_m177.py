from tiny.m177 import f


def test_0():
    assert f(8) == 45


def test_1():
    assert f(4) == 25


def test_2():
    assert f(5) == 30


def test_3():
    assert f(0) == 5


def test_4():
    assert f(1) == 10


def test_5():
    assert f(6) == 35


def test_6():
    assert f(12) == 65


def test_7():
    assert f(9) == 50
