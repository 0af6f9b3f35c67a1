from tiny.m180 import f


def test_0():
    assert f('beb') == 'ebb'


def test_1():
    assert f('becb') == 'ecbb'


def test_2():
    assert f('dbbd') == 'bbdd'


def test_3():
    assert f('dbcb') == 'bcbd'


def test_4():
    assert f('ce') == 'ec'


def test_5():
    assert f('ada') == 'daa'


def test_6():
    assert f('ac') == 'ca'


def test_7():
    assert f('daed') == 'aedd'
