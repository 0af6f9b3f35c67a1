from tiny.m037 import f


def test_0():
    assert f('ddc') == 'cd'


def test_1():
    assert f('abcd') == 'cda'


def test_2():
    assert f('bb') == 'b'


def test_3():
    assert f('eced') == 'c'


def test_4():
    assert f('ddd') == 'dd'


def test_5():
    assert f('be') == ''


def test_6():
    assert f('bebb') == 'bb'


def test_7():
    assert f('dacd') == 'cdd'
