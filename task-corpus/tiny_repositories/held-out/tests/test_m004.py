from tiny.m004 import f


def test_0():
    assert f('eac') == 'eacd'


def test_1():
    assert f('de') == 'ded'


def test_2():
    assert f('acbd') == 'acbdd'


def test_3():
    assert f('dd') == 'ddd'


def test_4():
    assert f('da') == 'dad'


def test_5():
    assert f('bbaa') == 'bbaad'


def test_6():
    assert f('ddb') == 'ddbd'


def test_7():
    assert f('ac') == 'acd'
