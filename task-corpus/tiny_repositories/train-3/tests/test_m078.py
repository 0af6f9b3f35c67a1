from tiny.m078 import f


def test_0():
    assert f(1) == 8


def test_1():
    assert f(0) == 5


def test_2():
    assert f(12) == 1289945093


def test_3():
    assert f(5) == 1171880


def test_4():
    assert f(4) == 196613


def test_5():
    assert f(7) == 17294408


def test_6():
    assert f(2) == 773


def test_7():
    assert f(6) == 5038853
