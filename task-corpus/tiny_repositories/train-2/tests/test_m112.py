from tiny.m112 import f


def test_0():
    assert f('ebcb') == 'EBCB'


def test_1():
    assert f('be') == 'BE'


def test_2():
    assert f('ddd') == 'DDD'


def test_3():
    assert f('eea') == 'EE'


def test_4():
    assert f('bba') == 'BB'


def test_5():
    assert f('accc') == 'CCC'


def test_6():
    assert f('ecd') == 'ECD'


def test_7():
    assert f('ebb') == 'EBB'
