from tiny.m112 import f


def test_0():
    assert f('bdee') == 9


def test_1():
    assert f('aad') == 8


def test_2():
    assert f('cbea') == ['a', 'b', 'e', 'w']


def test_3():
    assert f('bc') == ['b', 'w']


def test_4():
    assert f('aeac') == ['a', 'a', 'e', 'w']


def test_5():
    assert f('bca') == ['a', 'b', 'w']


def test_6():
    assert f('dbdd') == 9


def test_7():
    assert f('dc') == 7
