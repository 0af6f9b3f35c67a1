from tiny.m130 import f


def test_0():
    assert f('eda') == 'ed'


def test_1():
    assert f('cda') == 'cd'


def test_2():
    assert f('ee') == 'ee'


def test_3():
    assert f('acd') == 'ac'


def test_4():
    assert f('cd') == 'cd'


def test_5():
    assert f('dbdb') == 'db'


def test_6():
    assert f('ce') == 'ce'


def test_7():
    assert f('ecd') == 'ec'
