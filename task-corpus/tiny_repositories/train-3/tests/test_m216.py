from tiny.m216 import f


def test_0():
    assert f('aca') == ['a', 'a', 'c']


def test_1():
    assert f('caba') == ['a', 'a', 'b', 'c']


def test_2():
    assert f('bc') == ['b', 'c']


def test_3():
    assert f('dcdb') == ['b', 'c', 'd', 'd']


def test_4():
    assert f('ba') == ['a', 'b']


def test_5():
    assert f('eaa') == ['a', 'a', 'e']


def test_6():
    assert f('cdbc') == ['b', 'c', 'c', 'd']


def test_7():
    assert f('cd') == ['c', 'd']
