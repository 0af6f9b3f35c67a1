from tiny.m220 import f


def test_0():
    assert f('de') == 'd'


def test_1():
    assert f('ebce') == 'bce'


def test_2():
    assert f('ebac') == 'bae'


def test_3():
    assert f('dba') == 'bd'


def test_4():
    assert f('dae') == 'ad'


def test_5():
    assert f('ccab') == 'cac'


def test_6():
    assert f('dd') == 'd'


def test_7():
    assert f('ecbd') == 'cbe'
