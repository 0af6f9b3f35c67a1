from tiny.m075 import f


def test_0():
    assert f('ec') == 'ce'


def test_1():
    assert f('da') == 'ad'


def test_2():
    assert f('bed') == 6


def test_3():
    assert f('ea') == 'ae'


def test_4():
    assert f('cad') == 'adc'


def test_5():
    assert f('cd') == 'dc'


def test_6():
    assert f('dcb') == 6


def test_7():
    assert f('cb') == 4
