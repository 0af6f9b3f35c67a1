from tiny.m087 import f


def test_0():
    assert f('bbac') == ['bbac', 'd']


def test_1():
    assert f('dda') == ['d', 'dda']


def test_2():
    assert f('ebae') == ['d', 'ebae']


def test_3():
    assert f('aeb') == ['aeb', 'd']


def test_4():
    assert f('bdb') == ['bdb', 'd']


def test_5():
    assert f('ead') == ['d', 'ead']


def test_6():
    assert f('eae') == ['d', 'eae']


def test_7():
    assert f('bdca') == ['bdca', 'd']
