from tiny.m232 import f


def test_0():
    assert f(12) == 168


def test_1():
    assert f(2) == 104


def test_2():
    assert f(5) == 128


def test_3():
    assert f(8) == 152


def test_4():
    assert f(9) == 160


def test_5():
    assert f(0) == 88


def test_6():
    assert f(6) == 136


def test_7():
    assert f(7) == 144
