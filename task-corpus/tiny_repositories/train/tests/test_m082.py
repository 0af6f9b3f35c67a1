from tiny.m082 import f


def test_0():
    assert f('dbab') == 'xbaby'


def test_1():
    assert f('dcd') == 'xcxy'


def test_2():
    assert f('eae') == 'eaey'


def test_3():
    assert f('abdc') == 'abxcy'


def test_4():
    assert f('aad') == 'aaxy'


def test_5():
    assert f('dba') == 'xbay'


def test_6():
    assert f('cded') == 'cxexy'


def test_7():
    assert f('ecda') == 'ecxay'
