from tiny.m167 import f


def test_0():
    assert f('ec') == 'cb'


def test_1():
    assert f('cbe') == 'beb'


def test_2():
    assert f('bcc') == 'ccb'


def test_3():
    assert f('eabb') == 'abbb'


def test_4():
    assert f('cbaa') == 'baab'


def test_5():
    assert f('ac') == 'cb'


def test_6():
    assert f('aa') == 'ab'


def test_7():
    assert f('ddbd') == 'dbdb'
