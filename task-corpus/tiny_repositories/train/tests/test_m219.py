from tiny.m219 import f


def test_0():
    assert f('dacb') == 'dacbda'


def test_1():
    assert f('becc') == 'beccbe'


def test_2():
    assert f('aeae') == 'aeaeae'


def test_3():
    assert f('eab') == 'eabe'


def test_4():
    assert f('dcb') == 'dcbd'


def test_5():
    assert f('bc') == 'bc'


def test_6():
    assert f('dac') == 'dacd'


def test_7():
    assert f('dce') == 'dced'
