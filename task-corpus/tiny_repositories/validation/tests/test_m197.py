from tiny.m197 import f


def test_0():
    assert f('dec') == ['d', 'e']


def test_1():
    assert f('bae') == ['a', 'b', 'e']


def test_2():
    assert f('aee') == ['a', 'e', 'e']


def test_3():
    assert f('ceb') == ['b', 'c', 'e']


def test_4():
    assert f('ea') == ['a', 'e']


def test_5():
    assert f('bce') == ['b', 'c', 'e']


def test_6():
    assert f('ead') == ['a', 'd', 'e']


def test_7():
    assert f('ecbc') == ['b', 'c', 'c', 'e']
