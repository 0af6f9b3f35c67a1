from tiny.m055 import f


def test_0():
    assert f('da') == ['d', 'd']


def test_1():
    assert f('eac') == ['ce', 'd']


def test_2():
    assert f('aec') == ['ca', 'd']


def test_3():
    assert f('eaa') == ['ae', 'd']


def test_4():
    assert f('bc') == ['b', 'd']


def test_5():
    assert f('dbde') == ['d', 'ded']


def test_6():
    assert f('edb') == ['be', 'd']


def test_7():
    assert f('cc') == ['c', 'd']
