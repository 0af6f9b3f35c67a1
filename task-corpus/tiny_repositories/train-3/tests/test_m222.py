from tiny.m222 import f


def test_0():
    assert f('bdcd') == ['bdcd', 'y']


def test_1():
    assert f('bbee') == ['bbee', 'y']


def test_2():
    assert f('acc') == ['acc', 'y']


def test_3():
    assert f('ee') == ['ee', 'y']


def test_4():
    assert f('abde') == ['abde', 'y']


def test_5():
    assert f('dcac') == ['dcac', 'y']


def test_6():
    assert f('ece') == ['ece', 'y']


def test_7():
    assert f('acb') == ['acb', 'y']
