from tiny.m037 import f


def test_0():
    assert f('cdb') == 'cvb'


def test_1():
    assert f('edeb') == 'eveb'


def test_2():
    assert f('be') == 'be'


def test_3():
    assert f('bbed') == 'bbev'


def test_4():
    assert f('edd') == 'evv'


def test_5():
    assert f('eeb') == 'eeb'


def test_6():
    assert f('ebba') == 'ebba'


def test_7():
    assert f('aa') == 'aa'
