from tiny.m021 import f


def test_0():
    assert f('dab') == ['a', 'b']


def test_1():
    assert f('cdc') == ['d', 'c']


def test_2():
    assert f('babb') == ['a', 'b']


def test_3():
    assert f('cba') == ['b', 'a']


def test_4():
    assert f('edce') == ['d', 'c']


def test_5():
    assert f('bd') == ['d']


def test_6():
    assert f('aecd') == ['e', 'c']


def test_7():
    assert f('be') == ['e']
