from tiny.m050 import f


def test_0():
    assert f(4) == []


def test_1():
    assert f(2) == ['b', 'b']


def test_2():
    assert f(3) == ['b', 'b', 'b']


def test_3():
    assert f(9) == ['b']


def test_4():
    assert f(0) == []


def test_5():
    assert f(5) == ['b']


def test_6():
    assert f(12) == []


def test_7():
    assert f(6) == ['b', 'b']
