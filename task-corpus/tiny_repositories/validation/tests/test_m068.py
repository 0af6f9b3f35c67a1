from tiny.m068 import f


def test_0():
    assert f('edb') == 'bde'


def test_1():
    assert f('ddd') == 'ddd'


def test_2():
    assert f('eb') == 'be'


def test_3():
    assert f('ec') == 'ce'


def test_4():
    assert f('ebca') == 'vcbe'


def test_5():
    assert f('cda') == 'adc'


def test_6():
    assert f('cdbd') == 'dbdc'


def test_7():
    assert f('ce') == 'ec'
