from tiny.m064 import f


def test_0():
    assert f(2) == '4'


def test_1():
    assert f(0) == '0'


def test_2():
    assert f(4) == '0'


def test_3():
    assert f(5) == '2'


def test_4():
    assert f(11) == '6'


def test_5():
    assert f(8) == '0'


def test_6():
    assert f(10) == '4'


def test_7():
    assert f(7) == '6'
