from tiny.m142 import f


def test_0():
    assert f('abeb') == 'bebabebabeb'


def test_1():
    assert f('add') == 'ddaddadd'


def test_2():
    assert f('ceca') == 'ecacecaceca'


def test_3():
    assert f('ea') == 'aeaea'


def test_4():
    assert f('dcc') == 'ccdccdcc'


def test_5():
    assert f('ad') == 'dadad'


def test_6():
    assert f('bcd') == 'cdbcdbcd'


def test_7():
    assert f('cbe') == 'becbecbe'
