from tiny.m148 import f


def test_0():
    assert f(10) == 16


def test_1():
    assert f(3) == 'yyy'


def test_2():
    assert f(0) == 36


def test_3():
    assert f(7) == 'y'


def test_4():
    assert f(1) == 'y'


def test_5():
    assert f(11) == 'yyyyy'


def test_6():
    assert f(9) == 'yyy'


def test_7():
    assert f(8) == 4
