from tiny.m017 import f


def test_0():
    assert f('ced') == 'aCED01e'


def test_1():
    assert f('eeba') == 'aEEBA01e'


def test_2():
    assert f('cae') == 'aCAE01e'


def test_3():
    assert f('bbce') == 'aBBCE01e'


def test_4():
    assert f('eadb') == 'aEADB01e'


def test_5():
    assert f('edad') == 'aEDAD01e'


def test_6():
    assert f('ce') == 'aCE01e'


def test_7():
    assert f('abd') == 'aABD01e'
