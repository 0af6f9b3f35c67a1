from tiny.m015 import f


def test_0():
    assert f('cc') == 'ccd'


def test_1():
    assert f('dbc') == 'dbcd'


def test_2():
    assert f('cdba') == 'cdbad'


def test_3():
    assert f('ad') == 'add'


def test_4():
    assert f('ca') == 'cad'


def test_5():
    assert f('aacd') == 'aacdd'


def test_6():
    assert f('ecb') == 'ecbd'


def test_7():
    assert f('eecb') == 'eecbd'
