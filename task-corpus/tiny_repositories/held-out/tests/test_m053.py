from tiny.m053 import f


def test_0():
    assert f('bacd') == 'bBACD'


def test_1():
    assert f('eaee') == 'bEAEE'


def test_2():
    assert f('aaa') == 'bAAA'


def test_3():
    assert f('aa') == 'bAA'


def test_4():
    assert f('dbeb') == 'bDBEB'


def test_5():
    assert f('eecb') == 'bEECB'


def test_6():
    assert f('ebd') == 'bEBD'


def test_7():
    assert f('eda') == 'bEDA'
