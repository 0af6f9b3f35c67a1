from tiny.m225 import f


def test_0():
    assert f('bab') == ['b', 'b']


def test_1():
    assert f('caec') == ['c', 'e']


def test_2():
    assert f('dd') == ['d']


def test_3():
    assert f('cd') == ['c']


def test_4():
    assert f('cbc') == ['c', 'c']


def test_5():
    assert f('dcd') == ['d', 'd']


def test_6():
    assert f('caa') == ['a', 'c']


def test_7():
    assert f('aea') == ['a', 'a']
