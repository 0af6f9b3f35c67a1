from tiny.m118 import f


def test_0():
    assert f('abb') == 'ab'


def test_1():
    assert f('abd') == 'ad'


def test_2():
    assert f('ab') == 'ac'


def test_3():
    assert f('dcc') == 'dc'


def test_4():
    assert f('ede') == 'ee'


def test_5():
    assert f('dcac') == 'dac'


def test_6():
    assert f('dc') == 'dc'


def test_7():
    assert f('cbda') == 'cdc'
