from tiny.m033 import f


def test_0():
    assert f('aaec') == ['a', 'a', 'e', 'c']


def test_1():
    assert f('cec') == ['c', 'e', 'c']


def test_2():
    assert f('de') == 'dede'


def test_3():
    assert f('bada') == ['b', 'a', 'd', 'a']


def test_4():
    assert f('cb') == ['c', 'b']


def test_5():
    assert f('baa') == ['b', 'a', 'a']


def test_6():
    assert f('ec') == ['e', 'c']


def test_7():
    assert f('deca') == 'decadeca'
