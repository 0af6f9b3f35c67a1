from tiny.m022 import f


def test_0():
    assert f(7) == 'xx'


def test_1():
    assert f(10) == 'x'


def test_2():
    assert f(2) == 'xxx'


def test_3():
    assert f(6) == 'x'


def test_4():
    assert f(0) == 'x'


def test_5():
    assert f(9) == ''


def test_6():
    assert f(4) == 'x'


def test_7():
    assert f(12) == 'xxx'
