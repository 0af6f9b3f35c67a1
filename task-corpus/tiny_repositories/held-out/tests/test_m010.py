from tiny.m010 import f


def test_0():
    assert f('bbcb') == ['b', 'c', 'b', 'b']


def test_1():
    assert f('cec') == ['e', 'c', 'c']


def test_2():
    assert f('cae') == ['a', 'e', 'c']


def test_3():
    assert f('adcc') == ['d', 'c', 'c', 'a']


def test_4():
    assert f('dac') == ['a', 'c', 'd']


def test_5():
    assert f('ab') == ['b', 'a']


def test_6():
    assert f('bd') == ['d', 'b']


def test_7():
    assert f('db') == ['b', 'd']
