from tiny.m006 import f


def test_0():
    assert f('aca') == 'caa'


def test_1():
    assert f('bad') == 'adb'


def test_2():
    assert f('dbdd') == 'bddd'


def test_3():
    assert f('ac') == 'ca'


def test_4():
    assert f('becb') == 'ecbb'


def test_5():
    assert f('dbae') == 'baed'


def test_6():
    assert f('dab') == 'abd'


def test_7():
    assert f('eec') == 'ece'
