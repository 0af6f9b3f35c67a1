from tiny.m121 import f


def test_0():
    assert f(11) == 14641


def test_1():
    assert f(10) == 10000


def test_2():
    assert f(5) == 625


def test_3():
    assert f(6) == 1296


def test_4():
    assert f(3) == 81


def test_5():
    assert f(2) == 16


def test_6():
    assert f(4) == 256


def test_7():
    assert f(1) == 6
