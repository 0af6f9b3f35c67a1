from tiny.m117 import f


def test_0():
    assert f('ccae') == 'CCA'


def test_1():
    assert f('bc') == 'B'


def test_2():
    assert f('bbc') == 'BB'


def test_3():
    assert f('ddca') == 'DDC'


def test_4():
    assert f('aca') == 'AC'


def test_5():
    assert f('ab') == 'A'


def test_6():
    assert f('dcc') == 'DC'


def test_7():
    assert f('aeba') == 'AEB'
