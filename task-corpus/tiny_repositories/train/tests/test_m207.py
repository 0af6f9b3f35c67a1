from tiny.m207 import f


def test_0():
    assert f(2) == 17


def test_1():
    assert f(0) == 9


def test_2():
    assert f(5) == 29


def test_3():
    assert f(4) == 25


def test_4():
    assert f(7) == 37


def test_5():
    assert f(12) == 57


def test_6():
    assert f(11) == 53


def test_7():
    assert f(10) == 49
