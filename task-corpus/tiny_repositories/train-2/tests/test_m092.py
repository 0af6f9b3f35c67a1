from tiny.m092 import f


def test_0():
    assert f('eecc') == 'cc'


def test_1():
    assert f('de') == 'd'


def test_2():
    assert f('bc') == 'bc'


def test_3():
    assert f('dac') == 'dac'


def test_4():
    assert f('cae') == 'ca'


def test_5():
    assert f('ee') == ''


def test_6():
    assert f('bca') == 'bca'


def test_7():
    assert f('eadc') == 'adc'
