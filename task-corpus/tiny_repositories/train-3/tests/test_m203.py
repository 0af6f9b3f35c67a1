from tiny.m203 import f


def test_0():
    assert f('ebb') == 'ebb'


def test_1():
    assert f('cb') == 'cb'


def test_2():
    assert f('bdd') == 'bdd'


def test_3():
    assert f('cdc') == 'ccd'


def test_4():
    assert f('bac') == 'bca'


def test_5():
    assert f('cdb') == 'cbd'


def test_6():
    assert f('bccc') == 'bccc'


def test_7():
    assert f('dcac') == 'dcac'
