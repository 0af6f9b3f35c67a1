from tiny.m217 import f


def test_0():
    assert f('db') == 'dbe'


def test_1():
    assert f('ece') == 'ecee'


def test_2():
    assert f('baad') == 'baade'


def test_3():
    assert f('ebce') == 'ebcee'


def test_4():
    assert f('cad') == 'cade'


def test_5():
    assert f('ebdb') == 'ebdbe'


def test_6():
    assert f('cebd') == 'cebde'


def test_7():
    assert f('ab') == 'abe'
