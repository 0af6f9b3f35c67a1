from tiny.m044 import f


def test_0():
    assert f('bcbc') == 'ycbcb'


def test_1():
    assert f('edb') == 'ybde'


def test_2():
    assert f('bea') == 'yweb'


def test_3():
    assert f('dc') == 'ycd'


def test_4():
    assert f('caeb') == 'ybewc'


def test_5():
    assert f('ded') == 'yded'


def test_6():
    assert f('ebcb') == 'ybcbe'


def test_7():
    assert f('dbc') == 'ycbd'
