from tiny.m103 import f


def test_0():
    assert f('cec') == 'ccec'


def test_1():
    assert f('eacb') == 'ceacy'


def test_2():
    assert f('aceb') == 'cacey'


def test_3():
    assert f('cb') == 'ccy'


def test_4():
    assert f('ceea') == 'cceea'


def test_5():
    assert f('bba') == 'cyya'


def test_6():
    assert f('abc') == 'cayc'


def test_7():
    assert f('dcc') == 'cdcc'
