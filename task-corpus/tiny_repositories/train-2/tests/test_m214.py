from tiny.m214 import f


def test_0():
    assert f('ccb') == 'zccb'


def test_1():
    assert f('de') == 'zde'


def test_2():
    assert f('eba') == 'zeba'


def test_3():
    assert f('cdcc') == 'zcdcc'


def test_4():
    assert f('ba') == 'zba'


def test_5():
    assert f('ead') == 'zead'


def test_6():
    assert f('aeed') == 'zaeed'


def test_7():
    assert f('bda') == 'zbda'
