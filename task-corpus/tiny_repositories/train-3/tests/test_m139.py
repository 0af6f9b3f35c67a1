from tiny.m139 import f


def test_0():
    assert f('ed') == 'ED'


def test_1():
    assert f('cbda') == 'CBDA'


def test_2():
    assert f('dcce') == 'DCCE'


def test_3():
    assert f('adba') == 'ADBA'


def test_4():
    assert f('acbd') == 'ACBD'


def test_5():
    assert f('ea') == 'EA'


def test_6():
    assert f('beab') == 'BEAB'


def test_7():
    assert f('dd') == 'DD'
