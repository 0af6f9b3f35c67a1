from tiny.m169 import f


def test_0():
    assert f('eadc') == 'cdaeee'


def test_1():
    assert f('bee') == 'eebee'


def test_2():
    assert f('cdc') == 'cdcee'


def test_3():
    assert f('ee') == 'eeee'


def test_4():
    assert f('bbd') == 'dbbee'


def test_5():
    assert f('bd') == 'dbee'


def test_6():
    assert f('ddbe') == 'ebddee'


def test_7():
    assert f('ad') == 'daee'
