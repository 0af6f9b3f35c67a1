from tiny.m038 import f


def test_0():
    assert f('db') == ['b', 'd']


def test_1():
    assert f('aeec') == ['a', 'c', 'e', 'e']


def test_2():
    assert f('bced') == ['b', 'c', 'd', 'e']


def test_3():
    assert f('eb') == ['b', 'e']


def test_4():
    assert f('ae') == ['a', 'e']


def test_5():
    assert f('ddcd') == ['c', 'd', 'd', 'd']


def test_6():
    assert f('ebae') == ['a', 'b', 'e', 'e']


def test_7():
    assert f('eced') == ['c', 'd', 'e', 'e']
