from tiny.m067 import f


def test_0():
    assert f(7) == 115


def test_1():
    assert f(0) == 10


def test_2():
    assert f(10) == 160


def test_3():
    assert f(8) == 130


def test_4():
    assert f(11) == 175


def test_5():
    assert f(3) == 55


def test_6():
    assert f(4) == 70


def test_7():
    assert f(1) == 25
