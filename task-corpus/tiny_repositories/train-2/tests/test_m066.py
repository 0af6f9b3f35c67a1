from tiny.m066 import f


def test_0():
    assert f('bbd') == ['bx', 'bx', 'dx']


def test_1():
    assert f('ece') == ['cx', 'ex', 'ex']


def test_2():
    assert f('dbd') == ['bx', 'dx', 'dx']


def test_3():
    assert f('dc') == ['cx', 'dx']


def test_4():
    assert f('cd') == ['cx', 'dx']


def test_5():
    assert f('ce') == ['cx', 'ex']


def test_6():
    assert f('cb') == ['bx', 'cx']


def test_7():
    assert f('ace') == ['ax', 'cx', 'ex']
