from tiny.m222 import f


def test_0():
    assert f('aa') == 'aaa'


def test_1():
    assert f('ceed') == 'ceedcee'


def test_2():
    assert f('bbbd') == 'bbbdbbb'


def test_3():
    assert f('cbc') == 'cbccb'


def test_4():
    assert f('aede') == 'aedeaed'


def test_5():
    assert f('cddc') == 'cddccdd'


def test_6():
    assert f('eebc') == 'eebceeb'


def test_7():
    assert f('ed') == 'ede'
