from tiny.m022 import f


def test_0():
    assert f(1) == []


def test_1():
    assert f(8) == ['c', 'c']


def test_2():
    assert f(5) == ['c', 'c', 'c', 'c']


def test_3():
    assert f(2) == ['c']


def test_4():
    assert f(12) == ['c']


def test_5():
    assert f(10) == ['c', 'c', 'c', 'c']


def test_6():
    assert f(6) == []


def test_7():
    assert f(0) == ['c', 'c', 'c', 'c']
