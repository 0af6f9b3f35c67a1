from tiny.m107 import f


def test_0():
    assert f('bbee') == 'bbee'


def test_1():
    assert f('beee') == 'beee'


def test_2():
    assert f('ecdb') == 'edb'


def test_3():
    assert f('eac') == 'ea'


def test_4():
    assert f('edd') == 'edd'


def test_5():
    assert f('db') == 'db'


def test_6():
    assert f('dbcb') == 'dbb'


def test_7():
    assert f('ccc') == ''
