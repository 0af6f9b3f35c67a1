from tiny.m162 import f


def test_0():
    assert f('aa') == 'aa'


def test_1():
    assert f('ddbd') == 'dbda'


def test_2():
    assert f('dc') == 'ca'


def test_3():
    assert f('dcae') == 'caea'


def test_4():
    assert f('bdac') == 'daca'


def test_5():
    assert f('eec') == 'eca'


def test_6():
    assert f('ede') == 'dea'


def test_7():
    assert f('cd') == 'da'
