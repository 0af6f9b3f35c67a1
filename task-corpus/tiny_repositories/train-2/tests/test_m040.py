from tiny.m040 import f


def test_0():
    assert f('cbbd') == 'ecbbd'


def test_1():
    assert f('bdad') == 'ebdad'


def test_2():
    assert f('ceee') == 'eceee'


def test_3():
    assert f('dbcb') == 'edbcb'


def test_4():
    assert f('dac') == 'edac'


def test_5():
    assert f('eadb') == 'eeadb'


def test_6():
    assert f('adb') == 'eadb'


def test_7():
    assert f('aabc') == 'eaabc'
