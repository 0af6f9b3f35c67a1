from tiny.m151 import f


def test_0():
    assert f('bde') == 'ABDE'


def test_1():
    assert f('ddd') == 'ADDD'


def test_2():
    assert f('acdd') == 'ddca'


def test_3():
    assert f('acd') == 'dca'


def test_4():
    assert f('bbdb') == 'ABBDB'


def test_5():
    assert f('ecc') == 3


def test_6():
    assert f('baad') == 'daab'


def test_7():
    assert f('cdc') == 'ACDC'
