from tiny.m062 import f


def test_0():
    assert f(11) == 'b'


def test_1():
    assert f(7) == -2


def test_2():
    assert f(8) == -1


def test_3():
    assert f(6) == -3


def test_4():
    assert f(10) == ''


def test_5():
    assert f(9) == -3


def test_6():
    assert f(0) == -3


def test_7():
    assert f(12) == 'bb'
