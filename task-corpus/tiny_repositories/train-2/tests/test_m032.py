from tiny.m032 import f


def test_0():
    assert f(8) == 196


def test_1():
    assert f(4) == 100


def test_2():
    assert f(3) == 76


def test_3():
    assert f(9) == 220


def test_4():
    assert f(7) == 172


def test_5():
    assert f(6) == 148


def test_6():
    assert f(0) == 4


def test_7():
    assert f(10) == 244
