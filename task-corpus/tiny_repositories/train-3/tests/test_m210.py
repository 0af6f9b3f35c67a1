from tiny.m210 import f


def test_0():
    assert f(12) == 303


def test_1():
    assert f(11) == 278


def test_2():
    assert f(2) == 53


def test_3():
    assert f(5) == 128


def test_4():
    assert f(9) == 228


def test_5():
    assert f(0) == 1


def test_6():
    assert f(4) == 103


def test_7():
    assert f(10) == 253
