from tiny.m181 import f


def test_0():
    assert f('ddea') == 'yDDEAd'


def test_1():
    assert f('caa') == 'yCAAd'


def test_2():
    assert f('ba') == 'yBAd'


def test_3():
    assert f('dadb') == 'yDADBd'


def test_4():
    assert f('dd') == 'yDDd'


def test_5():
    assert f('bbb') == 'yBBBd'


def test_6():
    assert f('ecda') == 'yECDAd'


def test_7():
    assert f('ce') == 'yCEd'
