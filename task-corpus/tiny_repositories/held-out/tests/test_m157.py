from tiny.m157 import f


def test_0():
    assert f('ead') == 'da'


def test_1():
    assert f('bebe') == 'be'


def test_2():
    assert f('ac') == 'ac'


def test_3():
    assert f('ce') == 'ce'


def test_4():
    assert f('edce') == 'ec'


def test_5():
    assert f('cada') == 'ca'


def test_6():
    assert f('cc') == 'cc'


def test_7():
    assert f('ab') == 'ab'
