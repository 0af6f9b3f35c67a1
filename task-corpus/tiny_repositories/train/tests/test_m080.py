from tiny.m080 import f


def test_0():
    assert f('bba') == 'BBA'


def test_1():
    assert f('ebb') == 'EBB'


def test_2():
    assert f('cadd') == 'CAYY'


def test_3():
    assert f('eba') == 'EBA'


def test_4():
    assert f('bb') == 'BB'


def test_5():
    assert f('db') == 'YB'


def test_6():
    assert f('adba') == 'AYBA'


def test_7():
    assert f('ddd') == 'YYY'
