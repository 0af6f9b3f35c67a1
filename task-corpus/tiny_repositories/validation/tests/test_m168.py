from tiny.m168 import f


def test_0():
    assert f('dbce') == ['b', 'c', 'd', 'w']


def test_1():
    assert f('db') == ['b', 'd']


def test_2():
    assert f('baab') == ['a', 'a', 'b', 'b']


def test_3():
    assert f('ced') == ['c', 'd', 'w']


def test_4():
    assert f('bbe') == ['b', 'b', 'w']


def test_5():
    assert f('abb') == ['a', 'b', 'b']


def test_6():
    assert f('ad') == ['a', 'd']


def test_7():
    assert f('cec') == ['c', 'c', 'w']
