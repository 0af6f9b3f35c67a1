from tiny.m054 import f


def test_0():
    assert f('acdc') == 'acdcc'


def test_1():
    assert f('ceba') == 'ceac'


def test_2():
    assert f('eaac') == 'eaacc'


def test_3():
    assert f('ebd') == 'edc'


def test_4():
    assert f('eeea') == 'eeeac'


def test_5():
    assert f('bcbe') == 'cec'


def test_6():
    assert f('caba') == 'caac'


def test_7():
    assert f('cbbb') == 'cc'
