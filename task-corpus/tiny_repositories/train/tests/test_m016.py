from tiny.m016 import f


def test_0():
    assert f(1) == 'a6y'


def test_1():
    assert f(7) == 'a7y'


def test_2():
    assert f(2) == 'a6y'


def test_3():
    assert f(9) == 'a9y'


def test_4():
    assert f(11) == 'a11y'


def test_5():
    assert f(6) == 'a6y'


def test_6():
    assert f(0) == 'a6y'


def test_7():
    assert f(5) == 'a6y'
