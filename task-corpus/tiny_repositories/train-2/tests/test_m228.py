from tiny.m228 import f


def test_0():
    assert f('ea') == ['e']


def test_1():
    assert f('dc') == ['d']


def test_2():
    assert f('ced') == ['c', 'e']


def test_3():
    assert f('ee') == ['e']


def test_4():
    assert f('bddd') == ['b', 'd', 'd']


def test_5():
    assert f('dda') == ['d', 'd']


def test_6():
    assert f('dcbc') == ['b', 'c', 'd']


def test_7():
    assert f('cedd') == ['c', 'd', 'e']
