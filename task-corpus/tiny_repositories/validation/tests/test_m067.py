from tiny.m067 import f


def test_0():
    assert f('bea') == 'be'


def test_1():
    assert f('dcac') == 'cv'


def test_2():
    assert f('ca') == 'vc'


def test_3():
    assert f('ecde') == 'cd'


def test_4():
    assert f('dcbe') == 'cb'


def test_5():
    assert f('eed') == 'ee'


def test_6():
    assert f('bad') == 'bv'


def test_7():
    assert f('abda') == 'vb'
