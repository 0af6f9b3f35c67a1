from tiny.m229 import f


def test_0():
    assert f('cbdb') == 'cbdb'


def test_1():
    assert f('da') == 'da'


def test_2():
    assert f('bc') == 'bc'


def test_3():
    assert f('eedc') == 'zzdc'


def test_4():
    assert f('ebb') == 'zbb'


def test_5():
    assert f('eeda') == 'zzda'


def test_6():
    assert f('be') == 'bz'


def test_7():
    assert f('eaee') == 'zazz'
