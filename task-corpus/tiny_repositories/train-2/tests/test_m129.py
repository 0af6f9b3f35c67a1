from tiny.m129 import f


def test_0():
    assert f('bc') == ['cd']


def test_1():
    assert f('ddab') == ['dd', 'ad', 'bd']


def test_2():
    assert f('ba') == ['ad']


def test_3():
    assert f('dad') == ['ad', 'dd']


def test_4():
    assert f('cbe') == ['bd', 'ed']


def test_5():
    assert f('bcee') == ['cd', 'ed', 'ed']


def test_6():
    assert f('ae') == ['ed']


def test_7():
    assert f('bdd') == ['dd', 'dd']
