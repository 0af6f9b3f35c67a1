from tiny.m140 import f


def test_0():
    assert f('eb') == 'EB'


def test_1():
    assert f('ebd') == 'EBD'


def test_2():
    assert f('da') == 'DA'


def test_3():
    assert f('ccbb') == 'CCBB'


def test_4():
    assert f('cd') == 'CD'


def test_5():
    assert f('bb') == 'BB'


def test_6():
    assert f('bab') == 'BAB'


def test_7():
    assert f('dede') == 'DEDE'
