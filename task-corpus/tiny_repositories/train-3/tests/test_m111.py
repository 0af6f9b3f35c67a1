from tiny.m111 import f


def test_0():
    assert f('deae') == ['d', 'a']


def test_1():
    assert f('ceca') == ['c', 'c', 'a']


def test_2():
    assert f('ca') == ['c', 'a']


def test_3():
    assert f('dd') == ['d', 'd']


def test_4():
    assert f('ea') == ['a']


def test_5():
    assert f('cbab') == ['c', 'b', 'a', 'b']


def test_6():
    assert f('bde') == ['b', 'd']


def test_7():
    assert f('dee') == ['d']
