from tiny.m041 import f


def test_0():
    assert f(7) == 'xx'


def test_1():
    assert f(2) == 'xx'


def test_2():
    assert f(6) == 'x'


def test_3():
    assert f(12) == 'xx'


def test_4():
    assert f(10) == ''


def test_5():
    assert f(4) == 'xxxx'


def test_6():
    assert f(8) == 'xxx'


def test_7():
    assert f(0) == ''
