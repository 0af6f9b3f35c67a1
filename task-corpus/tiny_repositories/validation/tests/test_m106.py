from tiny.m106 import f


def test_0():
    assert f('caba') == 'bc'


def test_1():
    assert f('eaeb') == 'abee'


def test_2():
    assert f('ebdc') == 'bcde'


def test_3():
    assert f('bcd') == 'bcd'


def test_4():
    assert f('deca') == 'acde'


def test_5():
    assert f('cbca') == 'cc'


def test_6():
    assert f('bd') == 'bd'


def test_7():
    assert f('dcc') == 'ccd'
