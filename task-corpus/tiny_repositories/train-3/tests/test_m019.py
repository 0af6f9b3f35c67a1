from tiny.m019 import f


def test_0():
    assert f('ba') == 'ad'


def test_1():
    assert f('acbd') == 'cbdd'


def test_2():
    assert f('bcd') == 'cdd'


def test_3():
    assert f('eddd') == 'dddd'


def test_4():
    assert f('ee') == 'ed'


def test_5():
    assert f('cd') == 'dd'


def test_6():
    assert f('ddbd') == 'dbdd'


def test_7():
    assert f('ccc') == 'ccd'
