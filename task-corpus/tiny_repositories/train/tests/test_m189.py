from tiny.m189 import f


def test_0():
    assert f(1) == 'e'


def test_1():
    assert f(12) == 'ee'


def test_2():
    assert f(11) == 'e'


def test_3():
    assert f(5) == ''


def test_4():
    assert f(6) == 'e'


def test_5():
    assert f(4) == 'eeee'


def test_6():
    assert f(8) == 'eee'


def test_7():
    assert f(3) == 'eee'
