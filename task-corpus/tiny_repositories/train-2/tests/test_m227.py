from tiny.m227 import f


def test_0():
    assert f('acc') == 'ac'


def test_1():
    assert f('bad') == 'ba'


def test_2():
    assert f('dc') == 'dc'


def test_3():
    assert f('cdc') == 'cd'


def test_4():
    assert f('dadc') == 'da'


def test_5():
    assert f('ed') == 'ed'


def test_6():
    assert f('bbae') == 'bb'


def test_7():
    assert f('ade') == 'ad'
