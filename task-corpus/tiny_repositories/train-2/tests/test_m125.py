from tiny.m125 import f


def test_0():
    assert f('adc') == 'cd'


def test_1():
    assert f('ceb') == 'be'


def test_2():
    assert f('bea') == 'ae'


def test_3():
    assert f('daca') == 'aac'


def test_4():
    assert f('ccdb') == 'bcd'


def test_5():
    assert f('bb') == 'b'


def test_6():
    assert f('cdd') == 'dd'


def test_7():
    assert f('cad') == 'da'
