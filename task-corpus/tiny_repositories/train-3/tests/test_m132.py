from tiny.m132 import f


def test_0():
    assert f('cba') == 'c'


def test_1():
    assert f('db') == 'd'


def test_2():
    assert f('de') == 'd'


def test_3():
    assert f('daaa') == 'de'


def test_4():
    assert f('dc') == 'd'


def test_5():
    assert f('dba') == 'd'


def test_6():
    assert f('cb') == 'c'


def test_7():
    assert f('ebdb') == 'ee'
