from tiny.m012 import f


def test_0():
    assert f('dbdb') == 3


def test_1():
    assert f('baad') == 0


def test_2():
    assert f('daea') == -3


def test_3():
    assert f('cadb') == 9


def test_4():
    assert f('bca') == 0


def test_5():
    assert f('eba') == 3


def test_6():
    assert f('db') == 3


def test_7():
    assert f('ccae') == -3
