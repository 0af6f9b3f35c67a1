from tiny.m211 import f


def test_0():
    assert f('bc') == ['ba']


def test_1():
    assert f('abe') == ['aa', 'ea']


def test_2():
    assert f('eceb') == ['ea', 'ea']


def test_3():
    assert f('ccd') == ['ca', 'da']


def test_4():
    assert f('eecd') == ['ea', 'ca']


def test_5():
    assert f('cac') == ['ca', 'ca']


def test_6():
    assert f('ddb') == ['da', 'ba']


def test_7():
    assert f('bbdc') == ['ba', 'da']
