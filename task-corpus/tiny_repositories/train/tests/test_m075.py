from tiny.m075 import f


def test_0():
    assert f('bd') == ['a', 'bd']


def test_1():
    assert f('bce') == ['a', 'bce']


def test_2():
    assert f('abeb') == ['a', 'abeb']


def test_3():
    assert f('cbc') == ['a', 'cbc']


def test_4():
    assert f('baac') == ['a', 'baac']


def test_5():
    assert f('ae') == ['a', 'ae']


def test_6():
    assert f('ab') == ['a', 'ab']


def test_7():
    assert f('cdc') == ['a', 'cdc']
