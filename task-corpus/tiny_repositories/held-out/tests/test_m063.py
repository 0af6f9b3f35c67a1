from tiny.m063 import f


def test_0():
    assert f(12) == ''


def test_1():
    assert f(10) == 'zz'


def test_2():
    assert f(3) == 'zzz'


def test_3():
    assert f(0) == ''


def test_4():
    assert f(6) == 'zz'


def test_5():
    assert f(9) == 'z'


def test_6():
    assert f(4) == ''


def test_7():
    assert f(1) == 'z'
