from tiny.m155 import f


def test_0():
    assert f('cbb') == 'CB'


def test_1():
    assert f('eae') == 'EA'


def test_2():
    assert f('bbdc') == 'BB'


def test_3():
    assert f('cdc') == 'CD'


def test_4():
    assert f('ac') == 'AC'


def test_5():
    assert f('ddc') == 'DD'


def test_6():
    assert f('eb') == 'EB'


def test_7():
    assert f('dce') == 'DC'
