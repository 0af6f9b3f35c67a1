from tiny.m233 import f


def test_0():
    assert f('ec') == 'c'


def test_1():
    assert f('cde') == 'cd'


def test_2():
    assert f('baa') == 'baa'


def test_3():
    assert f('baaa') == 'baaa'


def test_4():
    assert f('bdbd') == 'bdbd'


def test_5():
    assert f('edbd') == 'dbd'


def test_6():
    assert f('edd') == 'dd'


def test_7():
    assert f('cada') == 'cada'
