from tiny.m146 import f


def test_0():
    assert f(6) == '35'


def test_1():
    assert f(2) == '15'


def test_2():
    assert f(9) == '50'


def test_3():
    assert f(10) == '55'


def test_4():
    assert f(5) == '30'


def test_5():
    assert f(3) == '20'


def test_6():
    assert f(12) == '65'


def test_7():
    assert f(0) == '5'
