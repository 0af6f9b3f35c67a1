from tiny.m106 import f


def test_0():
    assert f(1) == 73


def test_1():
    assert f(0) == 69


def test_2():
    assert f(7) == 97


def test_3():
    assert f(10) == 109


def test_4():
    assert f(8) == 101


def test_5():
    assert f(12) == 117


def test_6():
    assert f(5) == 89


def test_7():
    assert f(9) == 105
