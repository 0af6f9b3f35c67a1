from tiny.m049 import f


def test_0():
    assert f('acea') == ['az', 'ez', 'bz']


def test_1():
    assert f('ccab') == ['cz', 'az', 'bz']


def test_2():
    assert f('dab') == ['dz', 'bz']


def test_3():
    assert f('ebd') == ['ez', 'dz']


def test_4():
    assert f('ea') == ['ez', 'bz']


def test_5():
    assert f('eab') == ['ez', 'bz']


def test_6():
    assert f('dcb') == ['dz', 'bz']


def test_7():
    assert f('cd') == ['cz', 'bz']
