from tiny.m170 import f


def test_0():
    assert f('db') == 'D'


def test_1():
    assert f('baab') == 'BAA'


def test_2():
    assert f('ced') == 'CE'


def test_3():
    assert f('bbe') == 'BB'


def test_4():
    assert f('abb') == 'AB'


def test_5():
    assert f('ad') == 'A'


def test_6():
    assert f('cec') == 'CE'


def test_7():
    assert f('dbde') == 'DBD'
