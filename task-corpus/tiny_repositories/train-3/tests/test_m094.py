from tiny.m094 import f


def test_0():
    assert f('db') == 'd'


def test_1():
    assert f('ccd') == 'ccd'


def test_2():
    assert f('caee') == 'caee'


def test_3():
    assert f('cb') == 'c'


def test_4():
    assert f('ade') == 'ade'


def test_5():
    assert f('ceba') == 'cea'


def test_6():
    assert f('bb') == ''


def test_7():
    assert f('dcea') == 'dcea'
