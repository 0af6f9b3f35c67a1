from tiny.m101 import f


def test_0():
    assert f('eb') == 'eb'


def test_1():
    assert f('db') == 'db'


def test_2():
    assert f('ad') == 'd'


def test_3():
    assert f('bbeb') == 'bbeb'


def test_4():
    assert f('dede') == 'dede'


def test_5():
    assert f('bc') == 'bc'


def test_6():
    assert f('eed') == 'eed'


def test_7():
    assert f('bcdd') == 'bcdd'
