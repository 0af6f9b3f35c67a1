from tiny.m236 import f


def test_0():
    assert f('bdc') == 'bdc'


def test_1():
    assert f('badc') == 'badc'


def test_2():
    assert f('cecc') == 'cecc'


def test_3():
    assert f('ebce') == 'ebce'


def test_4():
    assert f('eba') == 'eba'


def test_5():
    assert f('ebec') == 'ebec'


def test_6():
    assert f('ce') == 'ce'


def test_7():
    assert f('aed') == 'aed'
