from tiny.m138 import f


def test_0():
    assert f('dede') == 'ddeeyyyc'


def test_1():
    assert f('ba') == 'abyyyc'


def test_2():
    assert f('aad') == 'aadyyyc'


def test_3():
    assert f('aecd') == 'acdeyyyc'


def test_4():
    assert f('ebbb') == 'bbbeyyyc'


def test_5():
    assert f('db') == 'bdyyyc'


def test_6():
    assert f('bcec') == 'bcceyyyc'


def test_7():
    assert f('be') == 'beyyyc'
