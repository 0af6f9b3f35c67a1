from tiny.m148 import f


def test_0():
    assert f(0) == 'zzz'


def test_1():
    assert f(6) == 'z'


def test_2():
    assert f(9) == ''


def test_3():
    assert f(2) == 'z'


def test_4():
    assert f(4) == 'zzz'


def test_5():
    assert f(3) == 'zz'


def test_6():
    assert f(5) == ''


def test_7():
    assert f(1) == ''
