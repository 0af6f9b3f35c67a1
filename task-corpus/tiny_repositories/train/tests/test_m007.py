from tiny.m007 import f


def test_0():
    assert f('ceab') == 'CEAB'


def test_1():
    assert f('cec') == 'CEC'


def test_2():
    assert f('eadd') == 'EADD'


def test_3():
    assert f('eac') == 'EAC'


def test_4():
    assert f('de') == 'DE'


def test_5():
    assert f('acbd') == 'ACBD'


def test_6():
    assert f('dd') == 'DD'


def test_7():
    assert f('da') == 'DA'
