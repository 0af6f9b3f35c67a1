from tiny.m101 import f


def test_0():
    assert f(8) == 'dd'


def test_1():
    assert f(9) == 'ddd'


def test_2():
    assert f(0) == ''


def test_3():
    assert f(10) == 'dd'


def test_4():
    assert f(4) == 'dd'


def test_5():
    assert f(1) == 'ddddd'


def test_6():
    assert f(11) == 'ddddd'


def test_7():
    assert f(6) == ''
