from tiny.m008 import f


def test_0():
    assert f('be') == 'EB'


def test_1():
    assert f('ced') == 'DEC'


def test_2():
    assert f('ecd') == 'DCE'


def test_3():
    assert f('aa') == 'AA'


def test_4():
    assert f('ddbd') == 'DBDD'


def test_5():
    assert f('bee') == 'EEB'


def test_6():
    assert f('bd') == 'DB'


def test_7():
    assert f('dd') == 'DD'
