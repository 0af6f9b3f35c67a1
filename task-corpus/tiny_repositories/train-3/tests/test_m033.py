from tiny.m033 import f


def test_0():
    assert f('dadb') == 'xdadb'


def test_1():
    assert f('cc') == 'xCC'


def test_2():
    assert f('becb') == 'xBECB'


def test_3():
    assert f('dad') == 'xdad'


def test_4():
    assert f('cb') == 'xCB'


def test_5():
    assert f('bce') == 'xBCE'


def test_6():
    assert f('bb') == 'xbb'


def test_7():
    assert f('cca') == 'xCCA'
