from tiny.m079 import f


def test_0():
    assert f('bb') == 'bb'


def test_1():
    assert f('bdc') == 'cbd'


def test_2():
    assert f('ddae') == 'edda'


def test_3():
    assert f('cdc') == 'ccd'


def test_4():
    assert f('bea') == 'abe'


def test_5():
    assert f('dacd') == 'ddac'


def test_6():
    assert f('ebae') == 'eeba'


def test_7():
    assert f('bddd') == 'dbdd'
