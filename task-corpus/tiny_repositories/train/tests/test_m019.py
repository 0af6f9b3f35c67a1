from tiny.m019 import f


def test_0():
    assert f('ab') == 'ba'


def test_1():
    assert f('bae') == 'ae'


def test_2():
    assert f('ce') == 'ec'


def test_3():
    assert f('bdca') == 'dc'


def test_4():
    assert f('adb') == 'db'


def test_5():
    assert f('cace') == 'ac'


def test_6():
    assert f('ee') == 'ee'


def test_7():
    assert f('ccb') == 'cb'
