from tiny.m065 import f


def test_0():
    assert f(5) == 17


def test_1():
    assert f(6) == 19


def test_2():
    assert f(2) == 11


def test_3():
    assert f(10) == 27


def test_4():
    assert f(1) == 9


def test_5():
    assert f(8) == 23


def test_6():
    assert f(11) == 29


def test_7():
    assert f(4) == 15
