from tiny.m210 import f


def test_0():
    assert f('ebbb') == ['b', 'b']


def test_1():
    assert f('bdb') == ['b']


def test_2():
    assert f('abbc') == ['c', 'b']


def test_3():
    assert f('deb') == ['b']


def test_4():
    assert f('dcda') == ['a', 'd']


def test_5():
    assert f('de') == []


def test_6():
    assert f('ca') == []


def test_7():
    assert f('bbcd') == ['d', 'c']
