from tiny.m196 import f


def test_0():
    assert f('ecb') == ['ECBA', 'b']


def test_1():
    assert f('da') == ['DAA', 'b']


def test_2():
    assert f('bda') == ['BDAA', 'b']


def test_3():
    assert f('bc') == ['BCA', 'b']


def test_4():
    assert f('ceeb') == ['CEEBA', 'b']


def test_5():
    assert f('bdda') == ['BDDAA', 'b']


def test_6():
    assert f('ccac') == ['CCACA', 'b']


def test_7():
    assert f('bd') == ['BDA', 'b']
