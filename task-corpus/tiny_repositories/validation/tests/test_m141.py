from tiny.m141 import f


def test_0():
    assert f('ba') == ['bx', 'ax']


def test_1():
    assert f('aad') == ['ax', 'ax']


def test_2():
    assert f('aecd') == ['ax', 'ex']


def test_3():
    assert f('ebbb') == ['ex', 'bx']


def test_4():
    assert f('db') == ['dx', 'bx']


def test_5():
    assert f('bcec') == ['bx', 'cx']


def test_6():
    assert f('be') == ['bx', 'ex']


def test_7():
    assert f('cade') == ['cx', 'ax']
