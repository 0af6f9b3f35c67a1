from tiny.m120 import f


def test_0():
    assert f('adc') == '2'


def test_1():
    assert f('eecb') == '2'


def test_2():
    assert f('aedc') == '3'


def test_3():
    assert f('bc') == '1'


def test_4():
    assert f('be') == '2'


def test_5():
    assert f('deee') == '4'


def test_6():
    assert f('bdd') == '3'


def test_7():
    assert f('ebcd') == '2'
