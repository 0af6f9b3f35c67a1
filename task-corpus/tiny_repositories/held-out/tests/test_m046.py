from tiny.m046 import f


def test_0():
    assert f('bb') == 'bee'


def test_1():
    assert f('ba') == 'bee'


def test_2():
    assert f('cb') == 'cee'


def test_3():
    assert f('ccea') == 'ceee'


def test_4():
    assert f('be') == 'bee'


def test_5():
    assert f('bebe') == 'bbee'


def test_6():
    assert f('de') == 'dee'


def test_7():
    assert f('dba') == 'dae'
