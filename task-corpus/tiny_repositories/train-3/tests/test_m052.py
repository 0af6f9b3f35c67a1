from tiny.m052 import f


def test_0():
    assert f('bec') == ['BEC012', 'd']


def test_1():
    assert f('bdba') == ['BDBA012', 'd']


def test_2():
    assert f('ee') == ['EE012', 'd']


def test_3():
    assert f('cebd') == ['CEBD012', 'd']


def test_4():
    assert f('adae') == ['DAE012', 'd']


def test_5():
    assert f('deec') == ['DEEC012', 'd']


def test_6():
    assert f('ac') == ['C012', 'd']


def test_7():
    assert f('daca') == ['DACA012', 'd']
