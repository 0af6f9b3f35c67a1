from tiny.m110 import f


def test_0():
    assert f('cec') == 'ce'


def test_1():
    assert f('eacb') == 'eac'


def test_2():
    assert f('aceb') == 'ace'


def test_3():
    assert f('cb') == 'c'


def test_4():
    assert f('ceea') == 'cee'


def test_5():
    assert f('bba') == 'zz'


def test_6():
    assert f('abc') == 'az'


def test_7():
    assert f('dcc') == 'dc'
