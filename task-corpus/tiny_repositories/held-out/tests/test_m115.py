from tiny.m115 import f


def test_0():
    assert f('ceae') == 'ecea'


def test_1():
    assert f('baed') == 'dbae'


def test_2():
    assert f('bdcc') == 'cbdc'


def test_3():
    assert f('dac') == 'cda'


def test_4():
    assert f('cb') == 4


def test_5():
    assert f('db') == 4


def test_6():
    assert f('ad') == 4


def test_7():
    assert f('cdae') == 'ecda'
