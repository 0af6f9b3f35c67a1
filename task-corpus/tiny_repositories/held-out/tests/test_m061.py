from tiny.m061 import f


def test_0():
    assert f('de') == 'd'


def test_1():
    assert f('ceed') == 'ece'


def test_2():
    assert f('eec') == 'ee'


def test_3():
    assert f('aace') == 'caa'


def test_4():
    assert f('ddbe') == 'bdd'


def test_5():
    assert f('be') == 'b'


def test_6():
    assert f('daae') == 'ada'


def test_7():
    assert f('bcce') == 'cbc'
