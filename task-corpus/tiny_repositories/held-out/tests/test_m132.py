from tiny.m132 import f


def test_0():
    assert f('dead') == 'yeay'


def test_1():
    assert f('aaa') == 'aaa'


def test_2():
    assert f('ced') == 'cey'


def test_3():
    assert f('eb') == 'eb'


def test_4():
    assert f('ccd') == 'ccy'


def test_5():
    assert f('bbea') == 'bbea'


def test_6():
    assert f('ccdc') == 'ccyc'


def test_7():
    assert f('eebc') == 'eebc'
