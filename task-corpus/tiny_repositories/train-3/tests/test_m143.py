from tiny.m143 import f


def test_0():
    assert f('ce') == 'ce'


def test_1():
    assert f('ae') == 'ae'


def test_2():
    assert f('cbe') == 'bce'


def test_3():
    assert f('deca') == 'acde'


def test_4():
    assert f('eede') == 'deee'


def test_5():
    assert f('ca') == 'ac'


def test_6():
    assert f('dece') == 'cdee'


def test_7():
    assert f('bd') == 'bd'
