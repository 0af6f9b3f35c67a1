from tiny.m005 import f


def test_0():
    assert f('baba') == 'ABAZB'


def test_1():
    assert f('de') == 'EZB'


def test_2():
    assert f('dbe') == 'BEZB'


def test_3():
    assert f('be') == 'EZB'


def test_4():
    assert f('dbce') == 'BCEZB'


def test_5():
    assert f('eab') == 'ABZB'


def test_6():
    assert f('cec') == 'ECZB'


def test_7():
    assert f('eadd') == 'ADDZB'
