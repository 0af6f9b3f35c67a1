from tiny.m084 import f


def test_0():
    assert f(7) == 'y'


def test_1():
    assert f(12) == 'y'


def test_2():
    assert f(2) == 'y'


def test_3():
    assert f(0) == ''


def test_4():
    assert f(4) == 'yy'


def test_5():
    assert f(5) == ''


def test_6():
    assert f(6) == 'yyy'


def test_7():
    assert f(11) == 'yyy'
