from tiny.m216 import f


def test_0():
    assert f('ccdc') == 'cdc'


def test_1():
    assert f('eda') == 'da'


def test_2():
    assert f('ead') == 'ad'


def test_3():
    assert f('cc') == 'cc'


def test_4():
    assert f('bcda') == 'cda'


def test_5():
    assert f('bce') == 'ce'


def test_6():
    assert f('cdc') == 'dc'


def test_7():
    assert f('eb') == 'be'
