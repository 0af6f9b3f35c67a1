from tiny.m196 import f


def test_0():
    assert f('eed') == 'dee'


def test_1():
    assert f('ad') == 'da'


def test_2():
    assert f('bca') == 'abc'


def test_3():
    assert f('dc') == 'cd'


def test_4():
    assert f('becd') == 'dbec'


def test_5():
    assert f('cda') == 'acd'


def test_6():
    assert f('bddd') == 'dbdd'


def test_7():
    assert f('bbab') == 'bbba'
