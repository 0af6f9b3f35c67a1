from tiny.m008 import f


def test_0():
    assert f('dad') == 'da'


def test_1():
    assert f('dede') == 'ded'


def test_2():
    assert f('eec') == 'ee'


def test_3():
    assert f('dea') == 'de'


def test_4():
    assert f('adcc') == 'adc'


def test_5():
    assert f('edbd') == 'edb'


def test_6():
    assert f('ee') == 'e'


def test_7():
    assert f('ae') == 'a'
