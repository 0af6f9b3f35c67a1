from tiny.m057 import f


def test_0():
    assert f('bad') == 'ba'


def test_1():
    assert f('bc') == 'bc'


def test_2():
    assert f('ade') == 'ad'


def test_3():
    assert f('be') == 'be'


def test_4():
    assert f('bcaa') == 'bc'


def test_5():
    assert f('aab') == 'aa'


def test_6():
    assert f('ca') == 'ca'


def test_7():
    assert f('aa') == 'aa'
