from tiny.m180 import f


def test_0():
    assert f('dde') == 'dey'


def test_1():
    assert f('cbbc') == 'cby'


def test_2():
    assert f('cae') == 'cey'


def test_3():
    assert f('eedc') == 'edy'


def test_4():
    assert f('dcdb') == 'ddy'


def test_5():
    assert f('de') == 'dy'


def test_6():
    assert f('bc') == 'by'


def test_7():
    assert f('be') == 'by'
