from tiny.m138 import f


def test_0():
    assert f(12) == ['a', 'a']


def test_1():
    assert f(4) == ['a', 'a', 'a', 'a']


def test_2():
    assert f(5) == []


def test_3():
    assert f(6) == ['a']


def test_4():
    assert f(10) == []


def test_5():
    assert f(3) == ['a', 'a', 'a']


def test_6():
    assert f(11) == ['a']


def test_7():
    assert f(1) == ['a']
