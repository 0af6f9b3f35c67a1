from tiny.m176 import f


def test_0():
    assert f('dcea') == 'ddceadceadceadcea'


def test_1():
    assert f('cca') == 'dccaccaccacca'


def test_2():
    assert f('bcd') == 'dbcdbcdbcdbcd'


def test_3():
    assert f('bcda') == 'dbcdabcdabcdabcda'


def test_4():
    assert f('aeed') == 'daeedaeedaeedaeed'


def test_5():
    assert f('eee') == 'deeeeeeeeeeee'


def test_6():
    assert f('cee') == 'dceeceeceecee'


def test_7():
    assert f('ac') == 'dacacacac'
