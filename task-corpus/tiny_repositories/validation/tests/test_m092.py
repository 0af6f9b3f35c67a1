from tiny.m092 import f


def test_0():
    assert f('bdb') == ['b', 'd', 'b']


def test_1():
    assert f('ee') == ['e', 'e']


def test_2():
    assert f('bceb') == ['b', 'c', 'e', 'b']


def test_3():
    assert f('cdbe') == ['c', 'd', 'b', 'e']


def test_4():
    assert f('bbac') == ['b', 'b', 'a', 'c']


def test_5():
    assert f('dda') == ['d', 'd', 'a']


def test_6():
    assert f('ebae') == ['e', 'b', 'a', 'e']


def test_7():
    assert f('aeb') == ['a', 'e', 'b']
