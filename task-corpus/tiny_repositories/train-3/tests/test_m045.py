from tiny.m045 import f


def test_0():
    assert f('bbba') == ['bd', 'bd', 'ad']


def test_1():
    assert f('bccb') == ['cd', 'cd', 'bd']


def test_2():
    assert f('ebb') == ['bd', 'bd']


def test_3():
    assert f('ecec') == ['cd', 'ed', 'cd']


def test_4():
    assert f('edb') == ['dd', 'bd']


def test_5():
    assert f('ad') == ['dd']


def test_6():
    assert f('deee') == ['ed', 'ed', 'ed']


def test_7():
    assert f('de') == ['ed']
